import { SOCKET_TARGET } from '../../domain/events/event-subscription.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import type { ClaimedDelivery } from '../../store/commands/claim-deliveries.ts'
import { confirmedOutcome } from '../../store/commands/event-deliveries.ts'
import { asEventSubscription } from '../../store/queries/event-subscriptions.ts'
import type { Store } from '../../store/store.ts'
import { CLAIM_MILLISECONDS, claimSafely } from '../claim.ts'
import { LateOutcomes, SETTLE_BATCH_SIZE } from '../late-outcomes.ts'
import type { EventSocket, SocketMessage } from './event-socket.ts'
import { notification, revocation } from './socket-message.ts'

/** A claim takes some statements for each, and a session cannot move while it is claimed for. */
const TARGET_BATCH_SIZE = 50
/** How long a process that stops waits for a busy store: clients know the id of a message that comes twice. */
const STOP_MILLISECONDS = 5000

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
  /** What clients have confirmed and no transaction has been asked to settle. */
  readonly #confirmed: string[] = []
  readonly #late: LateOutcomes
  #delivered = 0

  constructor(options: SocketDeliveriesOptions) {
    this.#options = options
    this.#late = new LateOutcomes(options)
  }

  /** How many messages clients have confirmed. */
  get delivered(): number {
    return this.#delivered
  }

  /** There may be something to deliver. */
  wake(): void {
    if (this.#options.sockets.size === 0 && this.#confirmed.length === 0) return
    this.#isWoken = true
    this.deliverAll().catch(error =>
      this.#options.log.debug({ error: String(error) }, 'delivering events to WebSockets failed'),
    )
  }

  /** Settles what was confirmed, and delivers what is due to all WebSockets that have room. */
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

  /** Waits for a delivery in progress, whether it succeeds or not. */
  async delivery(): Promise<void> {
    await this.#delivering?.catch(() => undefined)
  }

  /** Waits until what was confirmed is settled. */
  async settlement(): Promise<void> {
    await this.delivery()
    this.#settleApart(this.#confirmed.splice(0), STOP_MILLISECONDS)
    await this.#late.settled()
  }

  async #deliver(): Promise<void> {
    const { store, sockets } = this.#options
    do {
      this.#isWoken = false
      let after = SOCKET_TARGET
      while (sockets.size > 0) {
        const due = await store.eventDeliveries.dueSockets(after, TARGET_BATCH_SIZE)
        await this.#deliverTo(due.map(({ target }) => target.slice(SOCKET_TARGET.length)))
        const last = due.at(-1)
        if (last === undefined || due.length < TARGET_BATCH_SIZE) break
        after = last.target
      }
      await this.#settle()
    } while (this.#isWoken)
  }

  async #deliverTo(ids: readonly string[]): Promise<void> {
    const { store, node, sockets } = this.#options
    const free = ids.flatMap(session_id => {
      const most = sockets.get(session_id)?.room ?? 0
      return most > 0 ? [{ session_id, most }] : []
    })
    if (free.length === 0) return
    const claimed = await this.#settling(confirmed =>
      claimSafely(this.#options, times =>
        store.commands.claimSocketMessages({ ...times, confirmed, sockets: free, node }),
      ),
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

  /** Settles what no claim has settled. */
  async #settle(): Promise<void> {
    const { commands } = this.#options.store
    while (this.#confirmed.length > 0)
      await this.#settling(ids => commands.settleDeliveries({ outcomes: [confirmedOutcome(ids)] }))
  }

  /** Gives what was confirmed to a transaction. If it fails, what was confirmed is settled apart. */
  async #settling<T>(settle: (confirmed: readonly string[]) => Promise<T>): Promise<T> {
    const confirmed = this.#confirmed.splice(0, SETTLE_BATCH_SIZE)
    try {
      return await settle(confirmed)
    } catch (error) {
      this.#settleApart(confirmed, CLAIM_MILLISECONDS)
      throw error
    }
  }

  #settleApart(confirmed: readonly string[], forMilliseconds: number): void {
    const until = performance.now() + forMilliseconds
    this.#late.add(confirmed.map(id => ({ outcome: confirmedOutcome([id]), until })))
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
