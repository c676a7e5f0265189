import { SeededRandom } from '../../src/kit/random.ts'
import type { BenchRequest } from '../load/request.ts'
import { type BenchWorld, drawGame, FOLLOWED_LIVE } from '../world/world.ts'
import { type AskServer, READ, READ_WITH_LEAST, type Scenario, WRITE } from './scenario.ts'

/** Many times what the server keeps of its answers, so that nearly all of them must be made. */
const QUESTIONS = 8000
const PAGE = 20
const DEEPEST = 5
const MAX_GAMES = 4
const WALKS_AT_ONCE = 16

/**
 * Any game, any language, both, several games, or neither; any of the first five pages of 20. The walks are made
 * beforehand for their cursors, then all their pages are asked for in turn. Only full pages are taken: in a small world few
 * play a rare game, and shorter answers would be compared with longer ones.
 */
async function drawPages(world: BenchWorld, ask: AskServer): Promise<BenchRequest[]> {
  const random = new SeededRandom(3)
  const drawn = new Set<string>()
  const nextFilter = () => {
    for (;;) {
      const filter = drawFilter(world, random)
      if (drawn.size !== drawn.add(filter).size) return filter
    }
  }
  const pages: BenchRequest[] = []
  while (pages.length < QUESTIONS) {
    const filters = Array.from({ length: WALKS_AT_ONCE }, nextFilter)
    const walks = filters.map(filter => fullPages(filter, random.between(1, DEEPEST), ask))
    pages.push(...(await Promise.all(walks)).flat())
  }
  return pages
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

export const streamReads: readonly Scenario[] = [
  {
    name: 'get-streams-top',
    work: 'GetStreams, top page of 20',
    goals: { ...READ, bare: 0.8 },
    grows: true,
    prepare: async () => [{ path: '/helix/streams' }],
    isRight: ({ data }) => data?.length === PAGE,
  },
  {
    name: 'get-streams-random',
    work: 'GetStreams, random filter and page',
    goals: READ_WITH_LEAST,
    grows: true,
    prepare: drawPages,
    isRight: ({ data }) => data?.length === PAGE,
  },
  {
    name: 'get-streams-of-user',
    work: 'GetStreams by one user, token sent',
    goals: READ_WITH_LEAST,
    grows: true,
    // The callers in turn, each time about another broadcaster.
    prepare: async ({ callers, liveIds }) => {
      const random = new SeededRandom(5)
      return Array.from({ length: QUESTIONS }, (_, n) => {
        const token = callers[n % callers.length]?.token ?? ''
        return { path: `/helix/streams?user_id=${random.pick(liveIds)}`, token }
      })
    },
    isRight: ({ data }) => data?.length === 1,
  },
  {
    name: 'get-top-games',
    work: 'GetTopGames, top page of 20',
    goals: READ,
    grows: true,
    prepare: async ({ appToken }) => [{ path: '/helix/games/top', token: appToken }],
    isRight: ({ data }) => data?.length === PAGE,
  },
  {
    name: 'get-followed-streams',
    work: 'GetFollowedStreams, 500 follows, 40 live',
    goals: READ_WITH_LEAST,
    prepare: async ({ followers }) =>
      followers.map(({ id, token }) => ({ path: `/helix/streams/followed?user_id=${id}`, token })),
    isRight: ({ data }) => data?.length === FOLLOWED_LIVE,
  },
  {
    name: 'get-stream-key',
    work: 'GetStreamKey',
    goals: READ_WITH_LEAST,
    prepare: async ({ callers }) =>
      callers.map(({ id, token }) => ({ path: `/helix/streams/key?broadcaster_id=${id}`, token })),
    isRight: ({ data }) => data?.length === 1,
  },
  {
    name: 'get-stream-markers',
    work: 'GetStreamMarkers, 20 of 200',
    goals: READ_WITH_LEAST,
    prepare: async ({ marked }) =>
      marked.map(({ id, token }) => ({ path: `/helix/streams/markers?user_id=${id}`, token })),
    isRight: ({ data, pagination }) => data?.length === 1 && pagination?.cursor !== undefined,
  },
]

export const createStreamMarker: Scenario = {
  name: 'create-stream-marker',
  work: 'CreateStreamMarker, durable',
  goals: WRITE,
  prepare: async ({ marking }) =>
    marking.map(({ id, token }) => ({
      method: 'POST',
      path: '/helix/streams/markers',
      token,
      body: { user_id: id, description: 'the jump' },
    })),
  isRight: ({ data }) => data?.length === 1,
}
