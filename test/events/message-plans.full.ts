/**
 * Statements that queue, find, claim and cancel messages read the rows that they are about, whatever PostgreSQL knew of the tables
 * when it planned them: a connection keeps its plans, and tables grow long before they are analyzed again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { memory } from '../support/store/memory.ts'
import { type PostgresServer, startPostgres } from '../support/store/postgres.ts'
import { openStore } from '../support/store/stores.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const TABLES = ['events', 'event_deliveries', 'event_subscriptions', 'event_queues', 'event_sockets'] as const
/** PostgreSQL keeps the plan of a statement that has run five times. */
const PLANNING_ROUNDS = 7
const ROUNDS = 5
const STORED = 2000
/** Of a change, and of a round. */
const MESSAGES = 3
/** Of a round. A table that is read once in all rounds has more. */
const MOST_READ = 300

const most = { notifications: 256, verifications: 64 }
const ROOM = { free: most, freeForFailing: most, taken: {}, held: {}, slow: [], quick: [] }
const TIMES = { claim: 'c', forMilliseconds: 30_000 }
const CREATED = '2026-11-01T00:00:00.000Z'

/** Subscriptions that have ended. There are as many from the beginning. */
const ADD_SUBSCRIPTIONS = `insert into event_subscriptions
    (id, client_id, owner, type, version, condition, topic, status, cost, method, target, identity, created_at, ended_at)
  select 'past' || n, 'past', '', 'channel.update', '2', '{}', 'past/' || n, 'authorization_revoked', 0, 'webhook',
    'webhook:past', 'past' || n, '${CREATED}', '${CREATED}'
  from generate_series(1, ${STORED}) as n`

/** Events whose messages were sent, or wait in queues. */
const ADD_EVENTS = [
  `insert into events (id, type, version, subject, occurred_at, body)
     select 'past' || n, 'channel.update', '2', '2', '${CREATED}', '{}' from generate_series(1, ${STORED}) as n`,
  `insert into event_deliveries
       (id, message, kind, subscription_id, event_seq, target, status, attempts, due_at, waits_in, created_at)
     select e.id || '/' || w, e.id || '/' || w, 'notification', 'past1', e.seq, 'webhook:past', 'pending', 1,
       case w when 1 then cast(9000000000000 as bigint) end, case w when 1 then 'queue' || (e.seq % 100) end, '${CREATED}'
     from events e, generate_series(0, 1) as w where e.id like 'past%'`,
  `insert into event_queues (name, next_at, failures)
     select 'queue' || n, 9000000000000, 1 from generate_series(1, ${STORED}) as n`,
]

const addMessages = (name: string, subscription_id: string, target: string) =>
  `insert into event_deliveries (id, message, kind, subscription_id, target, status, attempts, due_at, created_at)
     select '${name}/' || n, '${name}/' || n, 'notification', '${subscription_id}', '${target}', 'pending', 0, 1, '${CREATED}'
     from generate_series(1, ${MESSAGES}) as n`

type Round = (store: Store, n: number, place: StorePlace) => Promise<void>

async function changeTitle(store: Store, n: number): Promise<void> {
  await store.commands.changeChannel({ user_id: '1', title: `Title ${n}`, video_id: '0' })
}

async function claimAndSettle(store: Store): Promise<void> {
  const { claimed } = await store.commands.claimWebhooks({ ...TIMES, room: ROOM })
  await settle(store, claimed)
}

async function settle(store: Store, claimed: readonly { id: string }[]): Promise<void> {
  expect(claimed).toHaveLength(MESSAGES)
  const outcomes = claimed.map(({ id }) => ({ ids: [id], outcome: 'delivered' as const, milliseconds: 1 }))
  await store.commands.settleDeliveries({ outcomes })
}

/** What is done with the messages of a round. Afterwards none is pending. */
const CASES: readonly (readonly [work: string, Round])[] = [
  [
    'queued by a change and claimed',
    async (store, n) => {
      await changeTitle(store, n)
      expect(await store.eventDeliveries.isWebhookDue()).toBe(true)
      await claimAndSettle(store)
    },
  ],
  [
    'put into a queue and claimed from there',
    async (store, n, place) => {
      await changeTitle(store, n)
      const room = { ...ROOM, free: { ...most, notifications: 0 } }
      expect((await store.commands.claimWebhooks({ ...TIMES, room })).claimed).toEqual([])
      await executeIn(place, "update event_queues set next_at = 1 where name = 'webhook:healthy.example'")
      await claimAndSettle(store)
    },
  ],
  [
    'canceled because their subscription has ended',
    async (store, n, place) => {
      await executeIn(place, addMessages(`canceled ${n}`, 'past1', 'webhook:past'))
      expect((await store.commands.claimWebhooks({ ...TIMES, room: ROOM })).claimed).toEqual([])
    },
  ],
  [
    'canceled with their subscription',
    async (store, n, place) => {
      const id = `ended ${n}`
      await subscribe(store, newSubscription('https://ended.example/', { id, topic: 'none' }))
      await executeIn(place, addMessages(id, id, 'webhook:ended.example'))
      const subscription = { id, status: 'notification_failures_exceeded', revokes: false } as const
      await store.commands.settleDeliveries({
        outcomes: [{ ids: [`${id}/1`], outcome: 'failed', milliseconds: 1, subscription }],
      })
    },
  ],
  [
    'claimed for a WebSocket',
    async (store, n, place) => {
      await executeIn(place, addMessages(`socket ${n}`, 'healthy', 'websocket:session'))
      expect(await store.eventDeliveries.dueSockets('websocket:', 50)).toEqual([
        { target: 'websocket:session' },
      ])
      const sockets = [{ session_id: 'session', most: 10 }]
      await settle(
        store,
        await store.commands.claimSocketMessages({ ...TIMES, node: 'node', sockets, confirmed: [] }),
      )
    },
  ],
  [
    'claimed, and their claim undone',
    async (store, n) => {
      await changeTitle(store, n)
      await store.commands.claimWebhooks({ ...TIMES, room: ROOM })
      expect(await store.commands.undoClaim(TIMES)).toBe(MESSAGES)
      await claimAndSettle(store)
    },
  ],
]

// Transactions of other tests, in other databases of the same server, would keep rows that are gone from being skipped.
let postgres: PostgresServer | undefined
const hasPostgres = engines.includes('postgres')
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres({ under: memory })
})
afterAll(async () => {
  await postgres?.stop()
})

async function createPlace(): Promise<StorePlace> {
  const place = await createStorePlace('postgres', { postgresUrl: postgres?.url })
  const store = await openStore(place, 2)
  for (const id of ['app', 'past']) await addClient(store, id)
  await addBroadcaster(store)
  await subscribe(store, newSubscription('https://healthy.example/', { id: 'healthy' }))
  for (let n = 1; n < MESSAGES; n++) await subscribe(store, newSubscription(`https://healthy.example/${n}`))
  await store.close()
  await executeIn(place, 'delete from event_deliveries')
  await executeIn(place, "update event_subscriptions set status = 'enabled'")
  await executeIn(place, ADD_SUBSCRIPTIONS)
  await executeIn(
    place,
    `insert into event_sockets (id, node, connected_at, keepalive_seconds) values ('session', 'node', '${CREATED}', 10)`,
  )
  for (const table of TABLES) await executeIn(place, `alter table ${table} set (autovacuum_enabled = off)`)
  return place
}

async function countRead(place: StorePlace): Promise<number> {
  const names = TABLES.map(name => `'${name}'`).join()
  const [{ n }] = (await executeIn(
    place,
    `select (select sum(idx_tup_read) from pg_stat_user_indexes where relname in (${names}))
       + (select sum(seq_tup_read) from pg_stat_user_tables where relname in (${names})) as n`,
  )) as [{ n: string }]
  return Number(n)
}

describe.skipIf(!hasPostgres).each([
  ['that were never analyzed', []],
  ['that were analyzed while there was no message', ['analyze']],
] as const)('with tables %s, messages cost as much among many others', (_, prepared) => {
  test.each(CASES)('when they are %s', async (_, round) => {
    const place = await createPlace()
    for (const statement of prepared) await executeIn(place, statement)
    const store = await openStore(place, 2)
    let n = 0
    while (n < PLANNING_ROUNDS) await round(store, ++n, place)
    for (const statement of ADD_EVENTS) await executeIn(place, statement)
    const before = await countRead(place)
    for (let left = ROUNDS; left > 0; left--) await round(store, ++n, place)
    // Connections report what they have read when they are closed.
    await store.close()
    const read = (await countRead(place)) - before
    const pending = "select id from event_deliveries where id not like 'past%' and status = 'pending'"
    expect(await executeIn(place, pending)).toEqual([])
    expect(read / ROUNDS).toBeGreaterThan(0)
    expect(read / ROUNDS).toBeLessThan(MOST_READ)
    await place.remove()
  })
})
