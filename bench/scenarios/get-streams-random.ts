import { SeededRandom } from '../../src/kit/random.ts'
import type { BenchRequest, Scenario } from '../scenario.ts'

const WALKS = 400
const DEEPEST = 5

/**
 * Any game (a rare one as often as a popular one), any language, both, or neither; any of the first five pages of 20.
 * 400 walks are made beforehand for their cursors, then all their pages are asked for in turn.
 */
export const getStreamsRandom: Scenario = {
  name: 'get-streams-random',
  work: 'GetStreams, random filter and page',
  goals: [{ against: 'bare server', atLeast: 0.5 }],
  connections: 32,
  grows: true,
  prepare: async (world, ask) => {
    const random = new SeededRandom(3)
    const pages: BenchRequest[] = []
    for (let walk = 0; walk < WALKS; walk++) {
      const game = random.next() < 0.6 ? `&game_id=${random.pick(world.gameIds)}` : ''
      const language = random.next() < 0.5 ? `&language=${random.pick(world.languages)}` : ''
      const depth = random.between(0, DEEPEST - 1)
      let path = `/helix/streams?first=20${game}${language}`
      for (let page = 0; page < depth; page++) {
        const { pagination } = await ask({ path })
        if (pagination?.cursor === undefined) break
        path = `/helix/streams?first=20${game}${language}&after=${pagination.cursor}`
      }
      pages.push({ path })
    }
    return pages
  },
  isRight: ({ data }) => data !== undefined && data.length <= 20,
}
