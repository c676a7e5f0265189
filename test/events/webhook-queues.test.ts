/** Queues of webhook messages, with claims and outcomes in any order. */
import { describe, expect, test } from 'bun:test'
import { messageQueues } from '../../src/domain/webhook-room.ts'
import { Slots } from '../../src/events/slots.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import type { ClaimedDelivery } from '../../src/store/commands/claim-deliveries.ts'
import type { DeliveryOutcome } from '../../src/store/commands/event-deliveries.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { anyStreamKey } from '../support/store/stores.ts'

const STEPS = 150
const SEED = 7
const LOST = `select count(*) as n from event_deliveries where waits_in is not null and due_at is not null
  and waits_in not in (select name from event_queues)`
const PENDING = 'select count(*) as n from event_deliveries where due_at is not null'

const openStore = async ({ folder, databaseUrl }: StorePlace): Promise<Store> =>
  createStore(
    databaseUrl === undefined
      ? await openSqliteEngine(`${folder}/strand.db`)
      : await openPostgresEngine(databaseUrl, { connections: 3, pooled: false }),
  )

/** A sender that has as many requests in flight as the rules allow, and ends them in any order. */
class SimulatedSender {
  readonly #store: Store
  readonly #slots = new Slots({ notifications: 32, verifications: 16 })
  readonly #random: SeededRandom
  #inFlight: { readonly delivery: ClaimedDelivery; free(end: { isAnswered: boolean; now: number }): void }[] =
    []

  constructor(store: Store, random: SeededRandom) {
    this.#store = store
    this.#random = random
  }

  /** Ends some requests and claims others. */
  async takeTurn(ends: number, failures: number): Promise<void> {
    const outcomes: DeliveryOutcome[] = []
    for (let n = 0; n < ends && this.#inFlight.length > 0; n++) {
      const [ended] = this.#inFlight.splice(this.#random.between(0, this.#inFlight.length - 1), 1)
      if (ended === undefined) break
      ended.free({ isAnswered: true, now: 0 })
      outcomes.push(this.#outcome(ended.delivery, this.#random.next() < failures))
    }
    const { claimed } = await this.#store.commands.claimWebhooks({
      outcomes,
      claim: 'c',
      forMilliseconds: 30_000,
      room: this.#slots.room(0),
    })
    for (const delivery of claimed)
      this.#inFlight.push({
        delivery,
        free: this.#slots.take(messageQueues(delivery), delivery.attempts > 0, 0),
      })
  }

  #outcome(delivery: ClaimedDelivery, isFailure: boolean): DeliveryOutcome {
    const queues = messageQueues(delivery)
    const done = { ids: [delivery.id], milliseconds: 1 }
    if (!isFailure) return { ...done, outcome: 'delivered', queues }
    const failed = { queues, isOrdered: false, maxPauseMilliseconds: 0 }
    return { ...done, outcome: 'retry', retryMilliseconds: 0, failed }
  }
}

describe.each(engines)('queues on %s', engine => {
  test('every message that waits is in a queue that is looked at, and all are sent in the end', async () => {
    const place = await createStorePlace(engine)
    const store = await openStore(place)
    try {
      await store.commands.putUser({ id: '1', login: 'u', stream_key: anyStreamKey('u'), now: Date.now() })
      const clients = ['one', 'two', 'three']
      const client = { name: 'Shop', organization_id: null, owner_user_id: null, implicit_grant: false }
      for (const id of clients)
        await store.commands.createClient({
          client: { ...client, id, kind: 'public', redirect_uris: [] },
          secret_hash: null,
        })
      const random = new SeededRandom(SEED)
      const sender = new SimulatedSender(store, random)
      const count = async (query: string) => Number((await executeIn(place, query))[0].n)
      for (let step = 0; step < STEPS; step++) {
        const added = random.between(0, 6 - 1)
        for (let n = 0; n < added; n++)
          await subscribe(
            store,
            clients[random.between(0, clients.length - 1)] ?? '',
            `${step}-${n}`,
            random.between(0, 2 - 1),
          )
        await sender.takeTurn(random.between(0, 12 - 1), 0.1)
        expect([step, await count(LOST)]).toEqual([step, 0])
      }
      const until = performance.now() + 20_000
      while ((await count(PENDING)) > 0 && performance.now() < until) await sender.takeTurn(64, 0)
      expect(await count(PENDING)).toBe(0)
    } finally {
      await store.close()
      await place.remove()
    }
  }, 60_000)
})

async function subscribe(store: Store, client_id: string, name: string, host: number): Promise<void> {
  const callback = `https://host-${host}.example.org/${name}`
  await store.commands.createEventSubscription({
    subscription: {
      id: crypto.randomUUID(),
      client_id,
      owner: '',
      scopes: [],
      type: 'channel.update',
      version: '2',
      condition: { broadcaster_user_id: '1' },
      topic: 'channel.update/2/1',
      method: 'webhook',
      callback,
      session_id: null,
      target: `webhook:${new URL(callback).host}`,
      lane: null,
      identity: name,
      key_id: 'test',
      sealed: 'sealed',
    },
    now: Date.now(),
  })
}
