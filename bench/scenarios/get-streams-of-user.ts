import { SeededRandom } from '../../src/kit/random.ts'
import type { Scenario } from './scenario.ts'

/** Many times what the server keeps of its answers, so that nearly all of them must be made. */
const QUESTIONS = 8000

/** The callers in turn, each time about another broadcaster. */
export const getStreamsOfUser: Scenario = {
  name: 'get-streams-of-user',
  work: 'GetStreams by one user, token sent',
  goals: [
    { against: 'bare server', atLeast: 0.7 },
    { against: 'bare server with headers' },
    { against: 'least server' },
  ],
  connections: 32,
  grows: true,
  prepare: async ({ callers, liveIds }) => {
    const random = new SeededRandom(5)
    const tokens = callers.map(each => each.token)
    return Array.from({ length: Math.ceil(QUESTIONS / tokens.length) }, () => tokens)
      .flat()
      .map(token => ({ path: `/helix/streams?user_id=${random.pick(liveIds)}`, token }))
  },
  isRight: ({ data }) => data?.length === 1,
}
