/** What looks after events: retention, rotation of master keys, and the check of a store. */
import { describe, expect, test } from 'bun:test'
import { EventSecrets } from '../../src/auth/event-secrets.ts'
import { newMasterKey } from '../../src/config/data-folder.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { reseal } from '../../src/maintenance/key-rotation.ts'
import { sweepExpired } from '../../src/maintenance/sweep-expired.ts'
import { verifyFolder } from '../../src/maintenance/verify.ts'
import { CAPS } from '../../src/store/commands/cap-sizes.ts'
import type { DeliveryOutcome } from '../../src/store/commands/event-deliveries.ts'
import type { NewEventSubscription } from '../../src/store/commands/event-subscriptions.ts'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, engines, executeIn, type StorePlace } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const DAY = 24 * 3600 * 1000
const KEPT = { videosDays: 0, progressDays: 0, tokensDays: 0, eventsDays: 30, auditDays: 0 }
const TARGET = 'webhook:example.org'
const ANY_ROOM = {
  free: { notifications: 1000, verifications: 1000 },
  freeForFailing: { notifications: 1000, verifications: 1000 },
  taken: {},
  held: {},
  slow: [],
  quick: [],
}

interface Bench {
  readonly store: Store
  readonly place: StorePlace
  // biome-ignore lint/suspicious/noExplicitAny: rows of any table
  execute(statement: string): Promise<any[]>
  count(table: string): Promise<number>
}

async function onBench(engine: EngineName, work: (bench: Bench) => Promise<void>): Promise<void> {
  const place = await createStorePlace(engine)
  const store = await openStore(place, 3)
  try {
    await addClient(store)
    await addBroadcaster(store)
    const execute = (statement: string) => executeIn(place, statement)
    const count = async (table: string) => Number((await execute(`select count(*) as n from ${table}`))[0].n)
    await work({ store, place, execute, count })
  } finally {
    await store.close()
    await place.remove()
  }
}

/** The numbered subscription to starts of the broadcaster's stream. */
const subscription = (n: number, more: Partial<NewEventSubscription> = {}): NewEventSubscription =>
  newSubscription(`https://example.org/${n}`, {
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    type: 'stream.online',
    version: '1',
    topic: 'stream.online/1/1',
    ...more,
  })

/** Settles everything that is due with an outcome. */
async function settle(store: Store, outcome: Partial<DeliveryOutcome> = {}): Promise<number> {
  const { claimed } = await store.commands.claimWebhooks({
    room: ANY_ROOM,
    claim: 'c',
    forMilliseconds: 30_000,
  })
  const outcomes = claimed.map(({ id, kind, subscription_id }): DeliveryOutcome => {
    const enabled = { id: subscription_id, status: 'enabled', revokes: false } as const
    return {
      ids: [id],
      outcome: 'delivered',
      milliseconds: 1,
      ...(kind === 'webhook_callback_verification' && { subscription: enabled }),
      ...outcome,
    }
  })
  await store.commands.settleDeliveries({ outcomes })
  return claimed.length
}

async function goLive(store: Store, n: number): Promise<void> {
  await store.commands.startStream({
    user_id: '1',
    stream_id: `1${n}`,
    video_id: `2${n}`,
    started_at: isoMillis(Date.now()),
  })
  await store.commands.endStream({ user_id: '1', now: Date.now() })
}

/** A table of the numbers from 1, in the SQL of the engine. */
const numbersTo = (engine: EngineName, last: number) =>
  engine === 'sqlite'
    ? {
        with: `with recursive n (n) as (select 1 union all select n + 1 from n where n < ${last}) `,
        from: 'n',
      }
    : { with: '', from: `generate_series(1, ${last}) as n (n)` }

/** Messages that wait in the queue of a subscription whose receiver fails. */
async function addWaiting(
  engine: EngineName,
  execute: Bench['execute'],
  { subscription: id, most }: { subscription: string; most: number },
): Promise<void> {
  const { with: numbers, from } = numbersTo(engine, most)
  await execute(`insert into event_deliveries
      (id, message, kind, subscription_id, target, status, attempts, due_at, waits_in, created_at)
    ${numbers}select 'd' || n, 'd' || n, 'notification', '${id}', '${TARGET}', 'pending', 0, 1, '${id}',
      '2026-01-01T00:00:00.000Z' from ${from}`)
  await execute(`insert into event_queues (name, next_at, failures) values ('${id}', 1, 1)`)
}

const never = { removed: () => undefined, wantsToStop: () => false }
const sweepAt = (store: Store, now: number) => sweepExpired(store, { now, settled: now }, KEPT, never)

for (const engine of engines) {
  describe(`events on ${engine}`, () => {
    test('events and deliveries are deleted after 30 days, but not what is still to be sent', async () => {
      await onBench(engine, async ({ store, count }) => {
        await subscribe(store, subscription(1))
        await settle(store)
        await goLive(store, 1)
        expect(await settle(store)).toBe(1)
        await goLive(store, 2)
        expect([await count('events'), await count('event_deliveries')]).toEqual([2, 3])
        await sweepAt(store, Date.now() + 29 * DAY)
        expect([await count('events'), await count('event_deliveries')]).toEqual([2, 3])
        await sweepAt(store, Date.now() + 31 * DAY)
        expect([await count('events'), await count('event_deliveries')]).toEqual([1, 2])
        expect(await settle(store)).toBe(1)
        await sweepAt(store, Date.now() + 31 * DAY)
        // The verification stays with its subscription, which has not ended.
        expect([await count('events'), await count('event_deliveries')]).toEqual([0, 1])
        expect(await count('event_subscriptions')).toBe(1)
      })
    })

    test('a subscription is deleted 30 days after its end, once its revocation is finished', async () => {
      await onBench(engine, async ({ store, count, execute }) => {
        await subscribe(store, subscription(1))
        await settle(store)
        await store.commands.deleteUser({ id: '1', now: Date.now() })
        expect((await execute('select status from event_subscriptions'))[0].status).toBe('user_removed')
        await sweepAt(store, Date.now() + 31 * DAY)
        expect(await count('event_subscriptions')).toBe(1)
        await settle(store)
        await sweepAt(store, Date.now() + 29 * DAY)
        expect(await count('event_subscriptions')).toBe(1)
        await sweepAt(store, Date.now() + 31 * DAY)
        expect([await count('event_subscriptions'), await count('event_deliveries')]).toEqual([0, 0])
      })
    })

    test('many events are deleted in steps of a thousand', async () => {
      await onBench(engine, async ({ store, count, execute }) => {
        await subscribe(store, subscription(1))
        await settle(store)
        await execute(`insert into events (id, type, version, subject, occurred_at, body)
          ${numbersTo(engine, 2500).with}select 'event ' || n, 'stream.online', '1', '1', '2026-01-01T00:00:00.000Z', '{}'
          from ${numbersTo(engine, 2500).from}`)
        await execute(`insert into event_deliveries
            (id, message, kind, subscription_id, event_seq, target, status, attempts, created_at)
          select e.id, e.id, 'notification', '${subscription(1).id}', e.seq, '${TARGET}', 'delivered', 1, e.occurred_at
          from events e`)
        const before = '2026-01-02T00:00:00.000Z'
        const steps: number[] = []
        for (let rows = -1; rows !== 0; steps.push(rows)) rows = await store.commands.forgetEvents({ before })
        expect(steps.reduce((sum, rows) => sum + rows, 0)).toBe(5000)
        expect(Math.max(...steps)).toBeLessThanOrEqual(2000)
        expect([await count('events'), await count('event_deliveries')]).toEqual([0, 1])
      })
    })

    test(`a client keeps ${CAPS.endedSubscriptionsOfClient} ended subscriptions, the newest`, async () => {
      await onBench(engine, async ({ store, execute, count }) => {
        const most = CAPS.endedSubscriptionsOfClient
        await subscribe(store, subscription(0))
        const columns =
          'client_id, owner, type, version, condition, topic, status, cost, method, target, identity, created_at, ended_at'
        const { with: numbers, from } = numbersTo(engine, most + 50)
        await execute(`insert into event_subscriptions (id, ${columns})
          ${numbers}select 'old ' || n, 'app', '', 'stream.online', '1', '{}', 't', 'user_removed', 1, 'webhook', 'w', 'i',
            '2026-01-01T00:00:00.' || (1000 + n) || 'Z', '2026-01-02T00:00:00.000Z' from ${from}`)
        const created = await store.commands.createEventSubscription({
          subscription: subscription(2),
          now: Date.now(),
        })
        expect(created).toMatchObject({ totals: { total: most + 2 } })
        expect(await count('event_subscriptions')).toBe(most + 2)
        const [oldest] = await execute('select min(created_at) as at from event_subscriptions')
        expect(oldest.at).toBe('2026-01-01T00:00:00.1051Z')
      })
    })

    test('a subscription with many deliveries is gone at once, and they are deleted in steps', async () => {
      await onBench(engine, async ({ store, execute, count }) => {
        const { id } = subscription(1)
        await subscribe(store, subscription(1))
        await settle(store)
        await addWaiting(engine, execute, { subscription: id, most: 3000 })
        expect(await store.commands.deleteEventSubscription({ id, client_id: 'app' })).toBeUndefined()
        expect(await count('event_deliveries')).toBe(3001)
        expect(await store.eventSubscriptions.find(id)).toBeUndefined()
        const owner = { client_id: 'app', owner: '' }
        const page = await store.eventSubscriptions.page(owner, {}, { first: 20, direction: 'forward' })
        expect(page.rows).toEqual([])
        expect((await store.eventSubscriptions.totals(owner)).total).toBe(0)
        expect(await store.commands.deleteEventSubscription({ id })).toMatchObject({ problem: 'not_found' })
        const steps: number[] = []
        for (let rows = -1; rows !== 0; steps.push(rows)) rows = await store.commands.purgeSubscriptions({})
        expect(Math.max(...steps)).toBeLessThanOrEqual(1000)
        expect([await count('event_deliveries'), await count('event_subscriptions')]).toEqual([0, 0])
      })
    })

    test('the many messages that wait for a subscription which ends are canceled in steps', async () => {
      await onBench(engine, async ({ store, execute }) => {
        const { id } = subscription(1)
        await subscribe(store, subscription(1))
        await settle(store)
        await addWaiting(engine, execute, { subscription: id, most: 3000 })
        const left = async () =>
          Number((await execute('select count(*) as n from event_deliveries where due_at is not null'))[0].n)
        const gone = { id, status: 'notification_failures_exceeded', revokes: false } as const
        await store.commands.settleDeliveries({
          outcomes: [{ ids: ['d1'], outcome: 'failed', milliseconds: 1, subscription: gone }],
        })
        expect(await left()).toBeGreaterThan(2000)
        while ((await left()) > 0) {
          const before = await left()
          await execute('update event_queues set next_at = 1')
          expect(await settle(store)).toBe(0)
          expect(before - (await left())).toBeLessThanOrEqual(500)
        }
      })
    })

    test('webhook secrets are sealed with the newest master key, and those that do not open are reported', async () => {
      await onBench(engine, async ({ store }) => {
        const [first, second, foreign] = [newMasterKey(), newMasterKey(), newMasterKey()]
        const ring = new KeyRing([first])
        const secrets = new EventSecrets(ring)
        const strange = new EventSecrets(new KeyRing([foreign]))
        for (let n = 0; n < 12; n++) {
          const { id } = subscription(n)
          const sealed = (n === 5 ? strange : secrets).seal(id, `secret number ${n}`)
          await store.commands.createEventSubscription({
            subscription: subscription(n, sealed),
            now: Date.now(),
          })
        }
        ring.take([second, first])
        const unopened = [subscription(5).id]
        expect(await reseal(store, ring, ['webhook_secret'])).toEqual({ resealed: 11, unopened })
        expect(await reseal(store, ring, ['webhook_secret'])).toEqual({ resealed: 0, unopened })
        ring.take([second])
        for (const row of (await Array.fromAsync(store.sealedSecrets.batches('webhook_secret'))).flat()) {
          const n = Number(row.owner.slice(-12))
          expect(secrets.open(row.owner, row)).toBe(n === 5 ? undefined : `secret number ${n}`)
        }
        expect(await store.sealedSecrets.countByMasterKey('webhook_secret')).toEqual(
          new Map([
            [foreign.id, 1],
            [second.id, 11],
          ]),
        )
      })
    })
  })
}

test('strand verify opens every webhook secret', async () => {
  await onBench('sqlite', async ({ store, place, execute }) => {
    const key = newMasterKey()
    const secrets = new EventSecrets(new KeyRing([key]))
    const sealed = secrets.seal(subscription(1).id, 'a secret')
    await subscribe(store, subscription(1, sealed))
    await execute('delete from stream_keys')
    expect((await verifyFolder(place.folder, [key])).problems).toEqual([])
    const missing = await verifyFolder(place.folder, [newMasterKey()])
    expect(missing.problems).toEqual([
      expect.stringContaining('1 webhook secret is sealed with the master key'),
    ])
    await execute(`update event_subscriptions set sealed = substr(sealed, 2) || substr(sealed, 1, 1)`)
    const altered = await verifyFolder(place.folder, [key])
    expect(altered.problems).toEqual([
      expect.stringContaining('1 webhook secret cannot be opened (subscriptions'),
    ])
  })
})
