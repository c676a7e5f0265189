import { SeededRandom } from '../../src/kit/random.ts'
import type { BenchRequest } from '../load/request.ts'
import { type BenchWorld, drawGame, FOLLOWED_LIVE } from '../world/world.ts'
import { type AskServer, OF_LEAST, type Scenario } from './scenario.ts'

/** Many times what the server keeps of its answers, so that nearly all of them must be made. */
const QUESTIONS = 8000
const PAGE = 20
const DEEPEST = 5
const MAX_GAMES = 4
const WALKS_AT_ONCE = 16

export const getStreamsTop: Scenario = {
  name: 'get-streams-top',
  work: 'GetStreams, top page of 20',
  goals: { 'bare server': 0.85 },
  grows: true,
  besideWriters: true,
  prepare: async () => [{ path: '/helix/streams' }],
  isRight: ({ data }) => data?.length === PAGE,
}

/**
 * Any game, any language, both, several games, or neither; any of the first five pages of 20. The walks are made
 * beforehand for their cursors, then all their pages are asked for in turn. Only full pages are taken: in a small world few
 * play a rare game, and shorter answers would be compared with longer ones.
 */
const getStreamsRandom: Scenario = {
  name: 'get-streams-random',
  work: 'GetStreams, random filter and page',
  goals: { 'bare server': undefined, 'least server': OF_LEAST },
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
    return pages
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

/** The callers in turn, each time about another broadcaster. */
const getStreamsOfUser: Scenario = {
  name: 'get-streams-of-user',
  work: 'GetStreams by one user, token sent',
  goals: { 'bare server': 0.5, 'least server': OF_LEAST },
  grows: true,
  prepare: async ({ callers, liveIds }) => {
    const random = new SeededRandom(5)
    return Array.from({ length: QUESTIONS }, (_, n) => {
      const token = callers[n % callers.length]?.token ?? ''
      return { path: `/helix/streams?user_id=${random.pick(liveIds)}`, token }
    })
  },
  isRight: ({ data }) => data?.length === 1,
}

const getTopGames: Scenario = {
  name: 'get-top-games',
  work: 'GetTopGames, top page of 20',
  goals: { 'bare server': 0.6 },
  grows: true,
  prepare: async ({ appToken }) => [{ path: '/helix/games/top', token: appToken }],
  isRight: ({ data }) => data?.length === PAGE,
}

const getFollowedStreams: Scenario = {
  name: 'get-followed-streams',
  work: 'GetFollowedStreams, 500 follows, 40 live',
  goals: { 'bare server': undefined, 'least server': OF_LEAST },
  prepare: async ({ followers }) =>
    followers.map(({ id, token }) => ({ path: `/helix/streams/followed?user_id=${id}`, token })),
  isRight: ({ data }) => data?.length === FOLLOWED_LIVE,
}

const getStreamKey: Scenario = {
  name: 'get-stream-key',
  work: 'GetStreamKey',
  goals: { 'bare server': undefined, 'least server': OF_LEAST },
  besideWriters: true,
  prepare: async ({ callers }) =>
    callers.map(({ id, token }) => ({ path: `/helix/streams/key?broadcaster_id=${id}`, token })),
  isRight: ({ data }) => data?.length === 1,
}

const getStreamMarkers: Scenario = {
  name: 'get-stream-markers',
  work: 'GetStreamMarkers, 20 of 200',
  goals: { 'bare server': 0.3, 'least server': OF_LEAST },
  prepare: async ({ marked }) =>
    marked.map(({ id, token }) => ({ path: `/helix/streams/markers?user_id=${id}`, token })),
  isRight: ({ data, pagination }) => data?.length === 1 && pagination?.cursor !== undefined,
}

export const createStreamMarker: Scenario = {
  name: 'create-stream-marker',
  work: 'CreateStreamMarker, durable',
  goals: { 'bare server': undefined, 'marker loop': 2, 'least server': undefined },
  onAllCores: true,
  prepare: async ({ marking }) =>
    marking.map(({ id, token }) => ({
      method: 'POST',
      path: '/helix/streams/markers',
      token,
      body: { user_id: id, description: 'the jump' },
    })),
  isRight: ({ data }) => data?.length === 1,
}

export const streamReads: readonly Scenario[] = [
  getStreamsTop,
  getStreamsRandom,
  getStreamsOfUser,
  getTopGames,
  getFollowedStreams,
  getStreamKey,
  getStreamMarkers,
]
