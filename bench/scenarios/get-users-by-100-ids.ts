import { SeededRandom } from '../../src/kit/random.ts'
import type { Scenario } from './scenario.ts'

const QUESTIONS = 500
const IDS = 100

/** As client libraries ask for the users of a page of streams. */
export const getUsersBy100Ids: Scenario = {
  name: 'get-users-by-100-ids',
  work: 'GetUsers by 100 ids',
  goals: [{ against: 'bare server', atLeast: 0.3 }],
  connections: 32,
  prepare: async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(16)
    return Array.from({ length: QUESTIONS }, () => {
      const ids = new Set<string>()
      while (ids.size < IDS) ids.add(random.pick(liveIds))
      return { path: `/helix/users?${[...ids].map(id => `id=${id}`).join('&')}`, token }
    })
  },
  isRight: ({ data }) => data?.length === IDS,
}
