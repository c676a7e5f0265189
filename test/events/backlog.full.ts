/** A receiver that fails with very many messages waiting costs others nothing: compared with the same store without them. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { DeliveryOutcome } from '../../src/store/commands/event-deliveries.ts'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, engines, executeIn, type StorePlace } from '../support/server.ts'
import { type PostgresServer, startPostgres } from '../support/store/postgres.ts'
import { openStore } from '../support/store/stores.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const WAITING = Number(process.env.TEST_WAITING_MESSAGES ?? 200_000)
const TURNS = 30
const most = { notifications: 256, verifications: 64 }
const ROOM = { free: most, freeForFailing: most, taken: {}, held: {}, slow: [], quick: [] }

/** A store with a receiver that takes messages, and one that fails while `waiting` messages wait for it. */
async function createBench(
  engine: EngineName,
  waiting: number,
  lane: string | null,
  postgresUrl?: string,
): Promise<StorePlace> {
  const place = await createStorePlace(engine, { postgresUrl })
  const store = await openStore(place, 2)
  await addClient(store)
  await addBroadcaster(store)
  await subscribe(store, newSubscription('https://healthy.example/', { id: 'healthy' }))
  await subscribe(store, newSubscription('https://fails.example/', { id: 'fails', lane }))
  await settleAll(store, () => ({ outcome: 'delivered' }))
  await store.close()
  await executeIn(
    place,
    "update event_subscriptions set status = 'enabled', topic = 'none' where id = 'fails'",
  )
  await executeIn(place, "update event_subscriptions set status = 'enabled' where id = 'healthy'")
  const name = lane ?? 'fails'
  await executeIn(
    place,
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${waiting})
     insert into event_deliveries
       (id, message, kind, subscription_id, target, lane, status, attempts, due_at, waits_in, created_at)
     select 'd' || cast(n as text), 'd' || cast(n as text), 'notification', 'fails', 'webhook:fails.example',
       ${lane === null ? 'null' : `'${lane}'`}, 'pending', 0, 1, '${name}', '2026-11-01T00:00:00.000Z'
     from numbers`,
  )
  await executeIn(place, `insert into event_queues (name, next_at, failures) values ('${name}', 1, 3)`)
  return place
}

type Claimed = Awaited<ReturnType<Store['commands']['claimWebhooks']>>['claimed'][number]

async function settleAll(
  store: Store,
  end: (row: Claimed) => Pick<DeliveryOutcome, 'outcome' | 'failed' | 'retryMilliseconds'>,
): Promise<number> {
  const { claimed } = await store.commands.claimWebhooks({ room: ROOM, claim: 'c', forMilliseconds: 30_000 })
  const outcomes = claimed.map(row => ({ ids: [row.id], milliseconds: 1, ...end(row) }))
  await store.commands.settleDeliveries({ outcomes })
  return claimed.length
}

/** Changes with their messages, and each time an attempt to reach the receiver that fails. */
async function deliverChanges(store: Store, lane: string | null): Promise<void> {
  const queues = { host: 'webhook:fails.example', lane: lane ?? 'fails' }
  const failed = { queues, isOrdered: lane !== null, maxPauseMilliseconds: 0 }
  for (let n = 0; n < TURNS; n++) {
    await store.commands.changeChannel({ user_id: '1', title: `Title ${n}`, video_id: '0' })
    const count = await settleAll(store, row =>
      row.subscription_id === 'fails'
        ? { outcome: 'retry', retryMilliseconds: 0, failed }
        : { outcome: 'delivered' },
    )
    expect(count).toBeGreaterThan(0)
    await store.eventDeliveries.isWebhookDue()
  }
  expect((await store.eventDeliveries.backlog()).pending).toBeLessThanOrEqual(10_000)
}

/** What the work cost: blocks of PostgreSQL, which it counts when the connections end, or CPU time of this process. */
async function cost(place: StorePlace, work: (store: Store) => Promise<void>): Promise<number> {
  const { databaseUrl } = place
  if (databaseUrl === undefined) {
    const store = await openStore(place, 2)
    const before = process.cpuUsage()
    await work(store)
    const { user, system } = process.cpuUsage(before)
    await store.close()
    return user + system
  }
  const client = new SQL(databaseUrl, { max: 1 })
  const blocks = async () => {
    const [row] = await client.unsafe(
      `select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) as n from pg_statio_user_tables
       where relname in ('event_deliveries', 'event_queues')`,
    )
    return Number(row.n)
  }
  const before = await blocks()
  const store = await openStore(place, 2)
  await work(store)
  await store.close()
  let after = before
  for (let last = -1; last !== after || after === before; await Bun.sleep(100)) {
    last = after
    await client.unsafe('select pg_stat_clear_snapshot()')
    after = await blocks()
  }
  await client.close()
  return after - before
}

for (const engine of engines) {
  // Transactions of other tests, in other databases of the same server, would keep rows that are gone from being skipped.
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    if (engine === 'postgres') postgres = await startPostgres()
  })
  afterAll(async () => {
    await postgres?.stop()
  })

  for (const [kind, lane] of [
    ['a subscription', null],
    ['a lane', 'lane'],
  ] as const) {
    describe(`${WAITING} messages of ${kind} that wait for a receiver which fails, on ${engine}`, () => {
      test('make neither claims nor changes more expensive', async () => {
        const costs: number[] = []
        for (const waiting of [100, WAITING]) {
          const place = await createBench(engine, waiting, lane, postgres?.url)
          if (engine === 'postgres') {
            await executeIn(place, 'vacuum analyze event_deliveries')
            // The blocks that a vacuum reads meanwhile would count.
            for (const table of ['event_deliveries', 'event_queues'])
              await executeIn(place, `alter table ${table} set (autovacuum_enabled = off)`)
          }
          const work = (store: Store) => deliverChanges(store, lane)
          await cost(place, work)
          costs.push(Math.min(await cost(place, work), await cost(place, work)))
          await place.remove()
        }
        const [few = 0, many = 0] = costs
        expect(many).toBeLessThan(2 * few)
      }, 600_000)
    })
  }
}

test('no claim reads a queue without its index', async () => {
  const place = await createBench('sqlite', 100, null)
  using connection = new Sqlite(`${place.folder}/strand.db`)
  const plan = (text: string) =>
    (connection.query(`explain query plan ${text}`).all() as { detail: string }[]).map(row => row.detail)
  expect(
    plan(
      `select id from event_deliveries d where d.waits_in >= 'x' and d.waits_in <= 'x' and d.waits_in is not null and d.due_at is not null order by d.waits_in, d.seq limit 8`,
    ),
  ).toEqual([expect.stringContaining('event_deliveries_waiting (waits_in>? AND waits_in<?)')])
  await place.remove()
})
