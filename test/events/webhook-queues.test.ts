/** Queues of webhook messages, with claims and outcomes in any order. */
import { describe, expect, test } from 'bun:test'
import { messageQueues } from '../../src/domain/events/webhook-room.ts'
import { Slots } from '../../src/events/slots.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import type { ClaimedDelivery } from '../../src/store/commands/claim-deliveries.ts'
import type { DeliveryOutcome } from '../../src/store/commands/event-deliveries.ts'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, engines, executeIn } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const STEPS = 150
const SEED = 7
const LOST = `select count(*) as n from event_deliveries where waits_in is not null and due_at is not null
  and waits_in not in (select name from event_queues)`
const PENDING = 'select count(*) as n from event_deliveries where due_at is not null'

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
    const store = await openStore(place, 3)
    try {
      await addBroadcaster(store)
      const clients = ['one', 'two', 'three']
      for (const id of clients) await addClient(store, id)
      const random = new SeededRandom(SEED)
      const sender = new SimulatedSender(store, random)
      const count = async (query: string) => Number((await executeIn(place, query))[0].n)
      for (let step = 0; step < STEPS; step++) {
        const added = random.between(0, 6 - 1)
        for (let n = 0; n < added; n++)
          await subscribe(
            store,
            newSubscription(`https://host-${random.between(0, 2 - 1)}.example.org/${step}-${n}`, {
              client_id: clients[random.between(0, clients.length - 1)] ?? '',
            }),
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
