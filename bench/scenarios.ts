/** Every kind of work, what it is compared with, and the goals. */
import { LANGUAGES } from '../src/demo/names.ts'
import { SeededRandom } from '../src/kit/random.ts'
import type { BenchRequest } from './load/http.ts'
import { type BenchWorld, drawGame, FOLLOWED_LIVE } from './world/world.ts'

/** What a scenario is compared with, and the units of results. */
export const BASELINES = {
  usual: 'times the usual server',
  least: 'of the least server',
  bare: 'of the bare server',
} as const
export type Baseline = keyof typeof BASELINES

/** Asks the server while a scenario is prepared, for cursors that only it can make. */
type AskServer = (request: BenchRequest) => Promise<Answer>

interface Answer {
  readonly data?: readonly unknown[]
  readonly pagination?: { readonly cursor?: string }
}

/** One kind of work, prepared from the world and sent in a circle by 32 connections. */
export interface Scenario {
  readonly name: string
  readonly work: string
  /** The baselines, each with the least ratio of its processor time for a request to Strand's; undefined: no goal is set. */
  readonly goals: Readonly<Partial<Record<Baseline, number | undefined>>>
  /** The size of the world matters to it: it is also measured in a small one. */
  readonly grows?: boolean
  prepare(world: BenchWorld, ask: AskServer): Promise<readonly BenchRequest[]>
  isRight(answer: Answer): boolean
}

const READ = { usual: 1.5, bare: undefined }
const READ_WITH_LEAST = { ...READ, least: 0.6 }
const READ_OF_100 = { ...READ, least: 0.5 }
const WRITE = { usual: 3, least: undefined, bare: undefined }

/** Many times what the server keeps of its answers, so that nearly all of them must be made. */
const QUESTIONS = 8000
const PAGE = 20
const ENTITLEMENT_PAGES = 100
const DROPS = '/helix/entitlements/drops'

const hasItems = (count: number) => (answer: Answer) => answer.data?.length === count

/** Games that are drawn by how many play them; those with a full page, for each caller in turn. */
async function drawGamePages({ callers }: BenchWorld, ask: AskServer): Promise<BenchRequest[]> {
  const random = new SeededRandom(3)
  const isFull = new Map<string, boolean>()
  const pages: BenchRequest[] = []
  while (pages.length < QUESTIONS) {
    const filters = `game_id=${drawGame(random)}&language=${random.pick(LANGUAGES)}`
    const path = `/helix/streams?${filters}&first=${PAGE}`
    const token = callers[pages.length % callers.length]?.token ?? ''
    if (!isFull.has(path)) isFull.set(path, hasItems(PAGE)(await ask({ path, token })))
    if (isFull.get(path)) pages.push({ path, token })
  }
  return pages
}

/** The first pages of everything that the organization has, newest first. */
async function walkEntitlements({ appToken: token }: BenchWorld, ask: AskServer): Promise<BenchRequest[]> {
  const pages: BenchRequest[] = []
  let after = ''
  while (pages.length < ENTITLEMENT_PAGES) {
    const page = { path: `${DROPS}?first=${PAGE}${after}`, token }
    pages.push(page)
    after = `&after=${(await ask(page)).pagination?.cursor}`
  }
  return pages
}

/** Users or channels by 100 ids that are drawn from those who are live, as client libraries ask for those of a page. */
const byIds = (path: string, parameter: string): Scenario['prepare'] => {
  return async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(15)
    return Array.from({ length: 500 }, () => {
      const ids = new Set<string>()
      while (ids.size < 100) ids.add(random.pick(liveIds))
      return { path: `${path}?${[...ids].map(id => `${parameter}=${id}`).join('&')}`, token }
    })
  }
}

const updateDrops = (name: string, work: string, idsPerCall: number): Scenario => ({
  name,
  work,
  goals: WRITE,
  // Every batch set to one status, then every batch to the other: each update changes all of its rows.
  prepare: async ({ batches, appToken: token }) =>
    ['FULFILLED', 'CLAIMED'].flatMap(fulfillment_status =>
      batches.map(ids => {
        const body = { entitlement_ids: ids.slice(0, idsPerCall), fulfillment_status }
        return { method: 'PATCH', path: DROPS, token, body }
      }),
    ),
  isRight: ({ data }) => data?.length === 1 && JSON.stringify(data[0]).includes('SUCCESS'),
})

/** Reads before writes, so that the reads meet the world as it was made. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'get-streams-top',
    work: 'GetStreams, top page of 20',
    goals: { ...READ, least: undefined, bare: 0.8 },
    grows: true,
    prepare: async () => [{ path: '/helix/streams' }],
    isRight: hasItems(PAGE),
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
    isRight: hasItems(1),
  },
  {
    name: 'get-streams-of-game',
    work: 'GetStreams by game and language, token sent',
    goals: READ,
    prepare: drawGamePages,
    isRight: hasItems(PAGE),
  },
  {
    name: 'get-followed-streams',
    work: 'GetFollowedStreams, 500 follows, 40 live',
    goals: READ,
    prepare: async ({ followers }) =>
      followers.map(({ id, token }) => ({ path: `/helix/streams/followed?user_id=${id}`, token })),
    isRight: hasItems(FOLLOWED_LIVE),
  },
  {
    name: 'get-stream-key',
    work: 'GetStreamKey',
    goals: READ_WITH_LEAST,
    prepare: async ({ callers }) =>
      callers.map(({ id, token }) => ({ path: `/helix/streams/key?broadcaster_id=${id}`, token })),
    isRight: hasItems(1),
  },
  {
    name: 'get-stream-markers',
    work: 'GetStreamMarkers, 20 of 200',
    goals: READ,
    prepare: async ({ marked }) =>
      marked.map(({ id, token }) => ({ path: `/helix/streams/markers?user_id=${id}`, token })),
    isRight: ({ data, pagination }) => data?.length === 1 && pagination?.cursor !== undefined,
  },
  {
    name: 'get-drops-entitlements-by-id',
    work: 'GetDropsEntitlements by id',
    goals: READ_WITH_LEAST,
    grows: true,
    prepare: async ({ entitlements, appToken: token }) =>
      entitlements.map(({ id }) => ({ path: `${DROPS}?id=${id}`, token })),
    isRight: hasItems(1),
  },
  {
    name: 'get-drops-entitlements-of-user',
    work: 'GetDropsEntitlements by user and game',
    goals: READ,
    grows: true,
    prepare: async ({ entitlements, appToken: token }) =>
      entitlements.map(each => ({ path: `${DROPS}?user_id=${each.user_id}&game_id=${each.game_id}`, token })),
    isRight: ({ data }) => data !== undefined && data.length > 0,
  },
  {
    name: 'get-drops-entitlements-page',
    work: 'GetDropsEntitlements, page of 20',
    goals: READ,
    grows: true,
    prepare: walkEntitlements,
    isRight: hasItems(PAGE),
  },
  {
    name: 'get-users-by-100-ids',
    work: 'GetUsers by 100 ids',
    goals: READ_OF_100,
    prepare: byIds('/helix/users', 'id'),
    isRight: hasItems(100),
  },
  {
    name: 'get-channels-by-100-ids',
    work: 'GetChannelInformation by 100 ids',
    goals: READ_OF_100,
    prepare: byIds('/helix/channels', 'broadcaster_id'),
    isRight: hasItems(100),
  },
  {
    name: 'create-stream-marker',
    work: 'CreateStreamMarker, durable',
    goals: WRITE,
    prepare: async ({ marked }) =>
      marked.map(({ id, token }) => {
        const body = { user_id: id, description: 'the jump' }
        return { method: 'POST', path: '/helix/streams/markers', token, body }
      }),
    isRight: hasItems(1),
  },
  updateDrops('update-drops-entitlement', 'UpdateDropsEntitlements, 1 id', 1),
  updateDrops('update-drops-entitlements', 'UpdateDropsEntitlements, 100 ids', 100),
]
