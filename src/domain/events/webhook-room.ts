/**
 * How many webhook requests may be in flight. These rules keep slow receivers from delaying others:
 *
 * - Each host has a few slots, more while it answers quickly, and all of them a total. Verifications count for their client instead of their host, and have
 *   a total of their own: a client can name any number of hosts that never answer.
 * - Several receivers may share a host. A subscription that fails, or takes long to answer, gets one request at a time, and
 *   all such subscriptions of a host at most half of its slots.
 * - What fails shares half of a total.
 */
import type { MessageKind } from './delivery-outcome.ts'
import { VERIFICATION_QUEUE } from './event-subscription.ts'

export const HOST_SLOTS = 8
export const QUICK_HOST_SLOTS = 32

export type MessageGroup = 'notifications' | 'verifications'
type Counts = Readonly<Record<string, number>>

/** What a process may send now. */
export interface WebhookRoom {
  readonly free: Readonly<Record<MessageGroup, number>>
  /** The same for what fails. */
  readonly freeForFailing: Readonly<Record<MessageGroup, number>>
  /** Requests in flight by queue. */
  readonly taken: Counts
  /** Requests in flight that fail or take long, by host. */
  readonly held: Counts
  /** Lanes with a request that takes long. */
  readonly slow: readonly string[]
  /** Hosts that answer quickly. */
  readonly quick: readonly string[]
}

/** The queues that a message passes: that of its host, or of the client that it verifies for, and that of its lane. */
export interface MessageQueues {
  readonly host: string
  readonly lane: string
}

export function messageQueues(message: {
  readonly kind: MessageKind
  readonly target: string
  readonly lane: string | null
  readonly subscription_id: string
  readonly client_id: string
}): MessageQueues {
  const client = VERIFICATION_QUEUE + message.client_id
  if (message.kind === 'webhook_callback_verification') return { host: client, lane: client }
  return { host: message.target, lane: message.lane ?? message.subscription_id }
}

export const messageGroup = ({ host }: MessageQueues): MessageGroup =>
  host.startsWith(VERIFICATION_QUEUE) ? 'verifications' : 'notifications'

/** Gives the room of a process to messages, one after the other. */
export class Admission {
  readonly #free: Record<MessageGroup, number>
  readonly #freeForFailing: Record<MessageGroup, number>
  readonly #taken: Map<string, number>
  readonly #held: Map<string, number>
  readonly #slow: ReadonlySet<string>
  readonly #quick: ReadonlySet<string>

  constructor(room: WebhookRoom) {
    this.#free = { ...room.free }
    this.#freeForFailing = { ...room.freeForFailing }
    this.#taken = new Map(Object.entries(room.taken))
    this.#held = new Map(Object.entries(room.held))
    this.#slow = new Set(room.slow)
    this.#quick = new Set(room.quick)
  }

  #slots(queue: string): number {
    return this.#quick.has(queue) ? QUICK_HOST_SLOTS : HOST_SLOTS
  }

  /** Whether this is the queue of a host that answers quickly. */
  isQuick(queue: string): boolean {
    return this.#quick.has(queue)
  }

  /** How many messages of a queue are worth looking at. */
  most(queue: string, isFailing: boolean): number {
    const taken = this.#taken.get(queue) ?? 0
    if (isFailing || this.#slow.has(queue)) return taken === 0 ? 1 : 0
    return Math.max(0, this.#slots(queue) - taken)
  }

  /** Takes a place for a message. Returns the queue in which it has to wait if there is none. */
  take(queues: MessageQueues, isFailing: boolean): string | undefined {
    const { host, lane } = queues
    const group = messageGroup(queues)
    const isHeld = isFailing || this.#slow.has(lane)
    if (isHeld) {
      if ((this.#taken.get(lane) ?? 0) > 0 || this.#freeForFailing[group] <= 0) return lane
      if ((this.#held.get(host) ?? 0) >= HOST_SLOTS / 2) return host
    }
    if (this.#free[group] <= 0 || (this.#taken.get(host) ?? 0) >= this.#slots(host)) return host
    this.#free[group] -= 1
    if (isHeld) this.#freeForFailing[group] -= 1
    for (const name of new Set([host, lane])) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    if (isHeld) this.#held.set(host, (this.#held.get(host) ?? 0) + 1)
    return undefined
  }
}
