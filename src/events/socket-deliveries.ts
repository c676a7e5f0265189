import { SOCKET_TARGET } from '../domain/event-subscription.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { ClaimedDelivery } from '../store/commands/claim-deliveries.ts'
import { asEventSubscription } from '../store/queries/event-subscriptions.ts'
import type { Store } from '../store/store.ts'
import { claimSafely } from './claim.ts'
import type { EventSocket, SocketMessage } from './event-socket.ts'
import { patiently } from './patiently.ts'
import { notification, revocation } from './socket-message.ts'

/** A claim takes some statements for each, and a session cannot move while it is claimed for. */
const TARGET_BATCH_SIZE = 50

interface SocketDeliveriesOptions {
  readonly store: Store
  readonly log: Log
  readonly node: string
  /** The WebSockets of this process, by the id of the session. */
  readonly sockets: ReadonlyMap<string, EventSocket>
}

/** Brings messages from the store to the WebSockets of this process, and settles what clients have confirmed. */
export class SocketDeliveries {
  readonly #options: SocketDeliveriesOptions
  #delivering: Promise<void> | undefined
  #isWoken = false
  #confirmed: string[] = []
  #settling: Promise<void> | undefined
  #delivered = 0

  constructor(options: SocketDeliveriesOptions) {
    this.#options = options
  }

  /** How many messages clients have confirmed. */
  get delivered(): number {
    return this.#delivered
  }

  /** There may be something to deliver. */
  wake(): void {
    if (this.#options.sockets.size === 0) return
    this.#isWoken = true
    this.deliverAll().catch(error =>
      this.#options.log.debug({ error: String(error) }, 'delivering events to WebSockets failed'),
    )
  }

  /** Delivers what is due, to all WebSockets that have room. */
  deliverAll(): Promise<void> {
    this.#delivering ??= this.#deliver().finally(() => {
      this.#delivering = undefined
    })
    return this.#delivering
  }

  /** Clients have confirmed these messages, so there is room for others. */
  confirm(ids: readonly string[]): void {
    this.#delivered += ids.length
    this.#confirmed.push(...ids)
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined
    })
    this.wake()
  }

  /** Releases messages that a moving client has not confirmed, or was not sent. They are sent on its new WebSocket. */
  async release(ids: readonly string[], { isUnsent = false } = {}): Promise<void> {
    if (ids.length === 0) return
    const outcomes = [{ ids, outcome: 'retry' as const, retryMilliseconds: 0, milliseconds: 0, isUnsent }]
    const { store, log } = this.#options
    await store.commands
      .settleDeliveries({ outcomes })
      .catch(error => log.warn({ error: String(error) }, 'messages could not be released'))
  }

  /** Waits for a delivery in progress. */
  async delivery(): Promise<void> {
    await this.#delivering
  }

  /** Waits until what was confirmed is settled. */
  async settlement(): Promise<void> {
    await this.#settling
  }

  async #deliver(): Promise<void> {
    const { store, sockets } = this.#options
    do {
      this.#isWoken = false
      let after = SOCKET_TARGET
      for (;;) {
        if (sockets.size === 0) return
        const due = await store.eventDeliveries.dueSockets(after, TARGET_BATCH_SIZE)
        await this.#deliverTo(due.map(({ target }) => target.slice(SOCKET_TARGET.length)))
        const last = due.at(-1)
        if (last === undefined || due.length < TARGET_BATCH_SIZE) break
        after = last.target
      }
    } while (this.#isWoken)
  }

  async #deliverTo(ids: readonly string[]): Promise<void> {
    const { store, node, sockets } = this.#options
    const free = ids.flatMap(session_id => {
      const most = sockets.get(session_id)?.room ?? 0
      return most > 0 ? [{ session_id, most }] : []
    })
    if (free.length === 0) return
    const claimed = await claimSafely(this.#options, times =>
      store.commands.claimSocketMessages({ ...times, sockets: free, node }),
    )
    const unsent: string[] = []
    for (const [session_id, deliveries] of Map.groupBy(claimed, row => row.session_id ?? '')) {
      const socket = sockets.get(session_id)
      if (socket?.isTaking) socket.deliver(deliveries.map(toMessage), performance.now())
      // The client left or was asked to move meanwhile.
      else unsent.push(...deliveries.map(row => row.id))
    }
    await this.release(unsent, { isUnsent: true })
  }

  async #settle(): Promise<void> {
    const { store, log } = this.#options
    while (this.#confirmed.length > 0) {
      const ids = this.#confirmed
      this.#confirmed = []
      const outcomes = [{ ids, outcome: 'delivered' as const, milliseconds: 0 }]
      await patiently(() => store.commands.settleDeliveries({ outcomes })).catch(error => {
        // They are due again after a while, and clients know the id of a message that comes twice.
        log.warn({ error: String(error) }, 'confirmed messages could not be noted')
      })
    }
  }
}

function toMessage(row: ClaimedDelivery): SocketMessage {
  const { id, type, subscription_id } = row
  return { id, text: formatMessage(row), type, subscription_id }
}

function formatMessage(row: ClaimedDelivery): string {
  const subscription = asEventSubscription({ ...row, id: row.subscription_id })
  return row.kind === 'revocation'
    ? revocation(row.message, subscription)
    : notification(row.message, subscription, JSON.parse(row.body ?? 'null'))
}
