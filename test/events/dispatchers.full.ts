/** Several dispatchers on one store, and receivers that hang. */

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { EventSecrets } from '../../src/auth/event-secrets.ts'
import { AddressShares } from '../../src/events/address-shares.ts'
import { WebhookDispatcher } from '../../src/events/dispatcher.ts'
import { type Resolved, SEND_RULES, WebhookSender } from '../../src/events/webhook-sender.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import { systemClock } from '../../src/kit/time/clock.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, engines, executeIn, type StorePlace } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'
import { type Received, Receiver, SECRET, until } from './receiver.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const secrets = new EventSecrets(new KeyRing([{ id: 'test', bytes: randomBytes(32) }]))
const logLines: string[] = []
const log = createLog({ level: 'debug', readable: false, write: line => logLines.push(line) })

const dispatcherOn = (
  store: Store,
  milliseconds = 10_000,
  resolve?: (host: string) => Promise<readonly Resolved[]>,
): WebhookDispatcher =>
  new WebhookDispatcher({
    store,
    secrets,
    clock: systemClock,
    log,
    retrySeconds: [0.2, 0.2],
    sender: new WebhookSender({ rule: SEND_RULES.any, milliseconds, ...(resolve && { resolve }) }),
  })

async function addSubscription(store: Store, callback: string, client_id = 'app'): Promise<string> {
  const id = crypto.randomUUID()
  const created = await subscribe(
    store,
    newSubscription(callback, { id, client_id, ...secrets.seal(id, SECRET) }),
  )
  expect(created).toHaveProperty('subscription')
  return id
}

/** Messages that are due, past every command. */
async function addDeliveries(
  engine: EngineName,
  place: StorePlace,
  { subscription, url, count }: { subscription: string; url: string; count: number },
): Promise<void> {
  const numbers =
    engine === 'sqlite'
      ? `with recursive n (n) as (select 1 union all select n + 1 from n where n < ${count}) `
      : ''
  const from = engine === 'sqlite' ? 'n' : `generate_series(1, ${count}) as n (n)`
  await executeIn(
    place,
    `insert into events (id, type, version, subject, occurred_at, body)
     values ('event', 'channel.update', '2', '1', '2026-01-01T00:00:00.000Z', '{}')`,
  )
  await executeIn(
    place,
    `insert into event_deliveries
       (id, message, kind, subscription_id, event_seq, target, status, attempts, due_at, created_at)
     ${numbers}select 'd' || n, 'd' || n, 'notification', '${subscription}',
       (select seq from events where id = 'event'), 'webhook:${new URL(url).host}', 'pending', 0, 1,
       '2026-01-01T00:00:00.000Z' from ${from}`,
  )
}

/** Subscriptions of the client whose callbacks are to be verified, past every command. */
async function addUnverified(place: StorePlace, callbacks: readonly string[]): Promise<void> {
  const created = new Date().toISOString()
  const rows = callbacks.map(callback => {
    const id = crypto.randomUUID()
    const { target, identity, topic, condition } = newSubscription(callback)
    const { key_id, sealed } = secrets.seal(id, SECRET)
    return `('${id}', 'app', '', 'channel.update', '2', '${JSON.stringify(condition)}', '${topic}',
      'webhook_callback_verification_pending', 1, 'webhook', '${callback}', '${target}', '${identity}', '${key_id}',
      '${sealed}', '${created}')`
  })
  await executeIn(
    place,
    `insert into event_subscriptions (id, client_id, owner, type, version, condition, topic, status, cost, method,
       callback, target, identity, key_id, sealed, created_at) values ${rows.join(', ')}`,
  )
  await executeIn(
    place,
    `insert into event_deliveries (id, message, kind, subscription_id, target, status, attempts, due_at, created_at)
     select id, id, 'webhook_callback_verification', id, target, 'pending', 0, 1, created_at from event_subscriptions`,
  )
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
})

/** A store with a client and a user, and as many connections to it as asked for. */
async function bench(engine: EngineName, connections: number) {
  const place = await createStorePlace(engine)
  ends.push(() => place.remove())
  const stores: Store[] = []
  for (let n = 0; n < connections; n++) {
    const store = await openStore(place, 4)
    ends.push(() => store.close())
    stores.push(store)
  }
  const [store] = stores as [Store]
  await addClient(store)
  await addBroadcaster(store)
  return { place, stores, store }
}

const retitle = (store: Store, title: string) =>
  store.commands.changeChannel({ user_id: '1', title, video_id: '0' })

function newReceiver(): Receiver {
  const receiver = new Receiver()
  ends.push(() => receiver.stop())
  return receiver
}

/** Lets these messages wait for their answer until the function that is returned is called. */
function hold(receiver: Receiver, isHeld: (message: Received) => boolean): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  receiver.answer = async message => {
    if (isHeld(message)) await promise
    return new Response()
  }
  return resolve
}

for (const engine of engines) {
  describe(`dispatchers on ${engine}`, () => {
    test('two of them on one store send each message once', async () => {
      const { stores, store } = await bench(engine, 2)
      const receivers = [newReceiver(), newReceiver(), newReceiver()]
      const dispatchers = stores.map(each => dispatcherOn(each))
      for (const dispatcher of dispatchers) dispatcher.start()
      for (const receiver of receivers) await addSubscription(store, receiver.url())
      await until(() => receivers.every(each => each.received.length === 1))
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      const COUNT = 100
      for (let n = 0; n < COUNT; n++) await retitle(stores[n % 2] as Store, `Title ${n}`)
      await until(() => receivers.every(each => each.notifications().length >= COUNT))
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      for (const receiver of receivers) {
        const titles = receiver.notifications().map(({ body }) => body.event.title)
        expect(titles.sort()).toEqual(Array.from({ length: COUNT }, (_, n) => `Title ${n}`).sort())
        expect(new Set(receiver.notifications().map(each => each.id)).size).toBe(COUNT)
        expect(receiver.peak).toBeLessThanOrEqual(16)
        expect(receiver.forged).toEqual([])
      }
      await Promise.all(dispatchers.map(each => each.stop()))
    })

    test('while requests are in flight, there is at most one claim in 4 ms, however many changes there are', async () => {
      const { store } = await bench(engine, 1)
      const receiver = newReceiver()
      const dispatcher = dispatcherOn(store)
      const announcements = spyOn(store, 'onAnnouncement')
      dispatcher.start()
      const announce = announcements.mock.calls[0]?.[0]
      await addSubscription(store, receiver.url())
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      const release = hold(receiver, () => true)
      await retitle(store, 'Held')
      await until(() => receiver.notifications().length === 1)
      const isDue = spyOn(store.eventDeliveries, 'isWebhookDue').mockResolvedValue(true)
      const claims = spyOn(store.commands, 'claimWebhooks').mockResolvedValue({ claimed: [], more: false })
      const began = performance.now()
      for (let n = 0; n < 1000; n++) {
        announce?.()
        await new Promise(setImmediate)
      }
      const most = (performance.now() - began) / 4 + 1
      expect(claims.mock.calls.length).toBeLessThanOrEqual(most)
      isDue.mockRestore()
      claims.mockRestore()
      release()
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      await dispatcher.stop()
    })

    test('a host that hangs with 10,000 messages gets 8 requests at a time and holds up no other', async () => {
      const { place, store } = await bench(engine, 1)
      const hanging = newReceiver()
      const healthy = newReceiver()
      const dispatcher = dispatcherOn(store, 2000)
      dispatcher.start()
      const id = await addSubscription(store, hanging.url())
      await addSubscription(store, healthy.url())
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      const release = hold(hanging, () => true)
      await addDeliveries(engine, place, { subscription: id, url: hanging.url(), count: 10_000 })
      await until(() => hanging.notifications().length >= 8)
      const before = process.memoryUsage().rss
      const delays: number[] = []
      for (let n = 0; n < 20; n++) {
        const beganAt = performance.now()
        await retitle(store, `Another ${n}`)
        await until(() => healthy.notifications().length > n)
        delays.push(performance.now() - beganAt)
      }
      expect(Math.max(...delays)).toBeLessThan(2000)
      expect(hanging.peak).toBeLessThanOrEqual(8)
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
      const { pending } = await store.eventDeliveries.backlog()
      expect(pending).toBeGreaterThan(9000)
      const stopped = dispatcher.stop()
      release()
      await stopped
    })

    test('a receiver that hangs delays no other receiver of the same host for long', async () => {
      const { place, store } = await bench(engine, 1)
      const host = newReceiver()
      const dispatcher = dispatcherOn(store, 1500)
      dispatcher.start()
      const hanging = await addSubscription(store, host.url('/hangs'))
      await addSubscription(store, host.url('/healthy'))
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      const release = hold(host, ({ path }) => path === '/hangs')
      await addDeliveries(engine, place, { subscription: hanging, url: host.url(), count: 500 })
      await until(() => host.notifications('/hangs').length > 8)
      const delays: number[] = []
      for (let n = 0; n < 20; n++) {
        const beganAt = performance.now()
        await retitle(store, `Another ${n}`)
        await until(() => host.notifications('/healthy').length > n)
        delays.push(performance.now() - beganAt)
      }
      expect(Math.max(...delays)).toBeLessThan(1000)
      const stopped = dispatcher.stop()
      release()
      await stopped
    })

    test('a callback that answers too late is not verified', async () => {
      const { place, store } = await bench(engine, 1)
      const receiver = newReceiver()
      receiver.answer = async ({ body }) => {
        await Bun.sleep(1000)
        return new Response(body.challenge)
      }
      const dispatcher = dispatcherOn(store, 300)
      dispatcher.start()
      const id = await addSubscription(store, receiver.url())
      const status = async () =>
        (await executeIn(place, `select status from event_subscriptions where id = '${id}'`))[0].status
      await until(async () => (await status()) === 'webhook_callback_verification_failed')
      expect(receiver.received.map(each => each.retry)).toEqual(['0', '1'])
      await dispatcher.stop()
      const metrics = new Metrics()
      dispatcher.measure(metrics)
      const text = exposition(metrics.families)
      expect(text).toContain('strand_webhook_attempts_total{outcome="retry"} 1\n')
      expect(text).toContain('strand_webhook_attempts_total{outcome="failed"} 1\n')
      expect(text).toContain('strand_webhook_attempt_seconds_count 2\n')
      expect(text).toContain('strand_webhooks_in_flight 0\n')
      expect(text).toMatch(/strand_webhooks_pending \d+\n/)
      expect(text).toMatch(/strand_webhook_lag_seconds [\d.]+\n/)
    })

    test('a client with 780 callbacks that never answer delays no verification of others', async () => {
      const { place, store } = await bench(engine, 1)
      const client = { name: 'Other', organization_id: null, owner_user_id: null, implicit_grant: false }
      await store.commands.createClient({
        client: { ...client, id: 'honest', kind: 'public', redirect_uris: [] },
        secret_hash: null,
      })
      let hanging = 0
      let peak = 0
      const dead: (() => void)[] = []
      // Names that never answer, and honest ones on loopback.
      const resolve = async (host: string) => {
        if (!host.startsWith('dead')) return [{ address: '127.0.0.1', family: 4 }]
        hanging += 1
        peak = Math.max(peak, hanging)
        await new Promise<void>(end => dead.push(end))
        return []
      }
      const dispatcher = dispatcherOn(store, 1000, resolve)
      await addUnverified(
        place,
        Array.from({ length: 780 }, (_, n) => `http://dead${n}.example/`),
      )
      dispatcher.start()
      await until(() => hanging >= 8)
      const honest = Array.from({ length: 8 }, () => newReceiver())
      for (const [n, receiver] of honest.entries()) {
        const url = receiver.url().replace('127.0.0.1', `honest${n}.example`)
        await addSubscription(store, url, 'honest')
      }
      await until(() => honest.every(each => each.received.length === 1))
      // Many are left: they were not waited for.
      const { pending } = await store.eventDeliveries.backlog()
      expect(pending).toBeGreaterThan(700)
      expect(hanging).toBeLessThan(100)
      const stopped = dispatcher.stop()
      for (const end of dead) end()
      await stopped
    }, 60_000)

    test('messages of a claim whose answer was lost are sent at once', async () => {
      const { store } = await bench(engine, 1)
      const receiver = newReceiver()
      // As a store does it that is too busy: the claim succeeds, and its answer comes too late.
      let lost = 0
      const claimWebhooks: Store['commands']['claimWebhooks'] = async args => {
        const answer = await store.commands.claimWebhooks(args)
        if (answer.claimed.length === 0 || lost > 1) return answer
        lost += 1
        throw new Unavailable('too late')
      }
      const busy = { ...store, commands: { ...store.commands, claimWebhooks } }
      const dispatcher = dispatcherOn(busy)
      dispatcher.start()
      const beganAt = performance.now()
      await addSubscription(store, receiver.url())
      await until(() => receiver.received.length > 0)
      expect(lost).toBe(2)
      // A claim ends after 30 s.
      expect(performance.now() - beganAt).toBeLessThan(20_000)
      expect(receiver.received.map(each => each.retry)).toEqual(['0'])
      await dispatcher.stop()
    })

    test('a stop sends nothing more, and settles what was in flight', async () => {
      const { place, store } = await bench(engine, 1)
      const receiver = newReceiver()
      const dispatcher = dispatcherOn(store)
      dispatcher.start()
      await addSubscription(store, receiver.url())
      await until(async () => (await store.eventDeliveries.backlog()).pending === 0)
      const release = hold(receiver, () => true)
      await retitle(store, 'Sent')
      await until(() => receiver.notifications().length === 1)
      const stopped = dispatcher.stop()
      await retitle(store, 'Not sent')
      release()
      await stopped
      expect(receiver.notifications().length).toBe(1)
      const rows = await executeIn(
        place,
        `select status, attempts, answer_status from event_deliveries where kind = 'notification' order by seq`,
      )
      expect(rows).toEqual([
        { status: 'delivered', attempts: 1, answer_status: 200 },
        { status: 'pending', attempts: 0, answer_status: null },
      ])
    })
  })
}

test('one address with many names gets 8 verifications at a time', () => {
  const shares = new AddressShares(8)
  const places = Array.from({ length: 8 }, () => shares.take(['192.0.2.1']))
  expect(places.every(leave => leave !== undefined)).toBe(true)
  expect(shares.take(['192.0.2.1', '192.0.2.2'])).toBeUndefined()
  expect(shares.take(['192.0.2.2'])).toBeDefined()
  places[0]?.()
  places[0]?.()
  expect([shares.take(['192.0.2.1']), shares.take(['192.0.2.1'])]).toEqual([expect.any(Function), undefined])
})

test('log lines have the host of a callback, and neither its path nor a secret', async () => {
  const { store } = await bench('sqlite', 1)
  const receiver = newReceiver()
  receiver.answer = () => new Response(null, { status: 500 })
  logLines.length = 0
  const dispatcher = dispatcherOn(store)
  dispatcher.start()
  const id = await addSubscription(store, receiver.url('/path-with-a-key?token=hidden'))
  await until(() => logLines.some(line => line.includes('event subscription ended')))
  await dispatcher.stop()
  const text = logLines.join('')
  expect(text).toContain(`"host":"${new URL(receiver.url()).host}"`)
  expect(text).toContain(id)
  expect(text).toContain('webhook_callback_verification_failed')
  expect(text).toContain('"reason":"status 500"')
  for (const hidden of ['path-with-a-key', 'hidden', SECRET]) expect(text).not.toContain(hidden)
  expect(logLines.filter(line => line.includes('webhooks failed')).length).toBe(1)
})
