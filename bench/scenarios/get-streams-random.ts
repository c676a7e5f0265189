import { SeededRandom } from '../../src/kit/random.ts'
import { type BenchWorld, drawGame } from '../world/world.ts'
import type { AskServer, BenchRequest, Scenario } from './scenario.ts'

/** Many times what the server keeps of its answers, so that nearly all of them must be made. */
const QUESTIONS = 8000
const PAGE = 20
const DEEPEST = 5
const MAX_GAMES = 4
const WALKS_AT_ONCE = 16

/**
 * Any game, any language, both, several games, or neither; any of the first five pages of 20. The walks are made
 * beforehand for their cursors, then all their pages are asked for in turn, each in another place of the circle. Only full
 * pages are taken: in a small world few play a rare game, and shorter answers would be compared with longer ones.
 */
export const getStreamsRandom: Scenario = {
  name: 'get-streams-random',
  work: 'GetStreams, random filter and page',
  goals: [{ against: 'bare server', atLeast: 0.5 }, { against: 'least server' }],
  connections: 32,
  grows: true,
  prepare: async (world, ask) => {
    const random = new SeededRandom(3)
    const drawn = new Set<string>()
    const nextFilter = () => {
      for (;;) {
        const filter = drawFilter(world, random)
        if (drawn.size === drawn.add(filter).size) continue
        return filter
      }
    }
    const pages: BenchRequest[] = []
    while (pages.length < QUESTIONS) {
      const filters = Array.from({ length: WALKS_AT_ONCE }, nextFilter)
      const walks = filters.map(filter => fullPages(filter, random.between(1, DEEPEST), ask))
      pages.push(...(await Promise.all(walks)).flat())
    }
    return shuffled(pages, random)
  },
  isRight: ({ data }) => data?.length === PAGE,
}

/** Distinct filters are wanted: of those without a game there are few, so most of the circle names one or several. */
function drawFilter({ gameIds, languages }: BenchWorld, random: SeededRandom): string {
  const games = new Set<string>()
  if (random.next() < 0.8) {
    const count = random.next() < 0.5 ? 1 : random.between(2, MAX_GAMES)
    while (games.size < count) games.add(drawGame(random, gameIds))
  }
  const language = random.next() < 0.5 ? `&language=${random.pick(languages)}` : ''
  return `${[...games].map(id => `&game_id=${id}`).join('')}${language}`
}

async function fullPages(filter: string, most: number, ask: AskServer): Promise<BenchRequest[]> {
  const pages: BenchRequest[] = []
  let path = `/helix/streams?first=${PAGE}${filter}`
  while (pages.length < most) {
    const { data, pagination } = await ask({ path })
    if (data?.length !== PAGE) break
    pages.push({ path })
    if (pagination?.cursor === undefined) break
    path = `/helix/streams?first=${PAGE}${filter}&after=${pagination.cursor}`
  }
  return pages
}

function shuffled<T>(values: readonly T[], random: SeededRandom): T[] {
  return values
    .map(value => ({ value, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(each => each.value)
}
