/** What the tests of both tiers share: many follows, unfollows, deletions and imports at once, on two nodes. */
import { expect } from 'bun:test'
import { SeededRandom } from '../../src/kit/random.ts'
import { isoSeconds } from '../../src/kit/time/clock.ts'
import { Conflict, Unavailable } from '../../src/store/errors.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, executeIn, type StorePlace } from '../support/server.ts'
import { anyStreamKey } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const PEOPLE = Array.from({ length: 30 }, (_, index) => String(100 + index))
const CONCURRENCY = 8

/** The counts and what they should be, as rows of `id, following, followers`; nothing where both are 0. */
const COUNTED =
  'select user_id as id, following, followers from follow_counts where following + followers > 0'
const EXPECTED = `select id, sum(following) as following, sum(followers) as followers from (
  select user_id as id, 1 as following, 0 as followers from follows
  union all select broadcaster_id, 0, 1 from follows) as sides group by id`

async function countsIn(place: StorePlace, query: string): Promise<Record<string, [number, number]>> {
  const rows = await executeIn(place, query)
  return Object.fromEntries(rows.map(row => [row.id, [Number(row.following), Number(row.followers)]]))
}

/** SQLite has one node. */
async function openNodes({ folder, databaseUrl }: StorePlace): Promise<Store[]> {
  if (databaseUrl === undefined) return [createStore(await openSqliteEngine(`${folder}/strand.db`))]
  const open = async () =>
    createStore(await openPostgresEngine(databaseUrl, { connections: 4, pooled: false }))
  return [await open(), await open()]
}

const putPerson = (store: Store, id: string) =>
  store.commands.putUser({
    id,
    login: `user${id}`,
    stream_key: anyStreamKey(`${id} ${crypto.randomUUID()}`),
    now: NOW,
  })

/** One random change. That the other side is missing just then is fine. */
async function change(store: Store, random: SeededRandom): Promise<unknown> {
  const { commands } = store
  const pair = () => ({ user_id: random.pick(PEOPLE), broadcaster_id: random.pick(PEOPLE) })
  const time = () => isoSeconds(NOW - random.between(0, 1_000_000) * 1000)
  const dated = () => ({ ...pair(), ...(random.next() < 0.5 && { followed_at: time() }) })
  const kind = random.next()
  if (kind < 0.45) {
    const follows = Array.from({ length: random.between(1, 5) }, dated)
    return commands.putFollows({ follows, now: NOW })
  }
  if (kind < 0.85) return commands.deleteFollow(pair())
  if (kind < 0.95) {
    const lines = Array.from({ length: 5 }, () => ({ type: 'follow' as const, ...dated() }))
    return commands.importLines({ lines, now: NOW })
  }
  const id = random.pick(PEOPLE)
  await commands.deleteUser({ id, now: NOW })
  return putPerson(store, id)
}

/** A change that the store refuses because others do the same at that time may or may not come; the counts hold anyway. */
async function attempt(store: Store, random: SeededRandom): Promise<boolean> {
  try {
    await change(store, random)
    return true
  } catch (error) {
    if (error instanceof Conflict || error instanceof Unavailable) return false
    throw error
  }
}

/** Makes so many changes, and expects the counts to equal the follows, between them and at the end. */
export async function expectExactCounts(engine: EngineName, changes: number): Promise<void> {
  const place = await createStorePlace(engine)
  const nodes = await openNodes(place)
  try {
    const [first] = nodes as [Store]
    for (const id of PEOPLE) await putPerson(first, id)
    let done = 0
    const workers = Array.from({ length: CONCURRENCY }, async (_, worker) => {
      const random = new SeededRandom(worker)
      for (let turn = worker; turn < changes; turn += CONCURRENCY)
        if (await attempt(nodes[worker % nodes.length] as Store, random)) done += 1
    })
    await Promise.all(workers)
    expect(done).toBeGreaterThan(changes / 2)
    const expected = await countsIn(place, EXPECTED)
    expect(Object.keys(expected).length).toBeGreaterThan(10)
    expect(await countsIn(place, COUNTED)).toEqual(expected)
    for (const id of PEOPLE) await first.commands.deleteUser({ id, now: NOW })
    expect(await countsIn(place, COUNTED)).toEqual({})
    expect(await executeIn(place, 'select * from follow_counts')).toEqual([])
  } finally {
    for (const node of nodes) await node.close()
    await place.remove()
  }
}
