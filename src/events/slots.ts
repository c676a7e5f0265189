/**
 * How many requests may be in flight. Three rules keep slow receivers from delaying others:
 *
 * - Each target has a few slots, and all of them a total.
 * - Several receivers may share a host. A subscription that fails, or takes long to answer, gets one request at a time, and
 *   all such subscriptions of a target at most half of its slots.
 * - Targets that have not taken a message yet, or failed to take the last one, share half of the total.
 */
import type { Capacity } from '../store/commands/claim-deliveries.ts'

export interface SlotLimits {
  readonly ofTarget: number
  readonly total: number
}

/** After this many targets the ones that were idle longest are forgotten. */
const MAX_KNOWN_TARGETS = 10_000
/** The same for the failing subscriptions of a target. */
const MAX_KNOWN_FAILING = 200
const SLOW_MILLISECONDS = 1000

interface SubscriptionState {
  /** When each request in flight was sent. */
  readonly sentAt: number[]
  isFailing: boolean
}

interface TargetState {
  inFlight: number
  /** How the last request ended; undefined before that. */
  tookLast: boolean | undefined
  /** Those that fail or have requests in flight. */
  readonly subscriptions: Map<string, SubscriptionState>
}

export class Slots {
  readonly #limits: SlotLimits
  readonly #targets = new Map<string, TargetState>()
  #inFlight = 0
  /** Of requests to targets that were unproven when they were sent. */
  #unproven = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get free(): number {
    return this.#limits.total - this.#inFlight
  }

  /** What may be sent to each target now, as long as there is a free slot in total. Targets without one are left out. */
  freeAt(targets: readonly string[], now: number): Capacity[] {
    let left = this.free
    let leftForUnproven = Math.floor(this.#limits.total / 2) - this.#unproven
    const free: Capacity[] = []
    for (const target of targets) {
      const state = this.#targets.get(target)
      const isProven = state?.tookLast === true
      const ofTarget = this.#limits.ofTarget - (state?.inFlight ?? 0)
      const most = Math.min(ofTarget, left, isProven ? left : leftForUnproven)
      if (most <= 0) continue
      free.push(...(state === undefined ? [{ target, most }] : this.#freeOf(target, state, most, now)))
      left -= most
      if (!isProven) leftForUnproven -= most
    }
    return free
  }

  /** The free slots of a target: some for subscriptions that fail, one each, and the rest for the others. */
  #freeOf(target: string, { subscriptions }: TargetState, most: number, now: number): Capacity[] {
    const held = [...subscriptions].filter(([, state]) => isHeld(state, now))
    if (held.length === 0) return [{ target, most }]
    const heldInFlight = held.reduce((sum, [, { sentAt }]) => sum + sentAt.length, 0)
    const mostHeld = Math.min(most, Math.max(0, Math.floor(this.#limits.ofTarget / 2) - heldInFlight))
    const idle = held.filter(([, { sentAt }]) => sentAt.length === 0).map(([id]) => id)
    const retried = Math.min(mostHeld, idle.length)
    return [
      ...(retried > 0 ? [{ target, most: retried, oneOfEach: idle }] : []),
      ...(most > retried ? [{ target, most: most - retried, except: held.map(([id]) => id) }] : []),
    ]
  }

  /** Takes a slot. The returned function gives it back, with how the request ended. */
  take(target: string, subscription: string, now: number): (took: boolean) => void {
    const state = this.#targets.get(target) ?? { inFlight: 0, tookLast: undefined, subscriptions: new Map() }
    this.#remember(target, state)
    const { subscriptions } = state
    const sender = subscriptions.get(subscription) ?? { sentAt: [], isFailing: false }
    subscriptions.set(subscription, sender)
    const isUnproven = state.tookLast !== true
    state.inFlight += 1
    sender.sentAt.push(now)
    this.#inFlight += 1
    if (isUnproven) this.#unproven += 1
    return took => {
      state.inFlight -= 1
      state.tookLast = took
      sender.sentAt.splice(sender.sentAt.indexOf(now), 1)
      sender.isFailing = !took
      if (sender.sentAt.length === 0) forgetOrKeepLast(subscriptions, subscription, sender)
      this.#inFlight -= 1
      if (isUnproven) this.#unproven -= 1
    }
  }

  #remember(target: string, state: TargetState): void {
    this.#targets.delete(target)
    this.#targets.set(target, state)
    if (this.#targets.size <= MAX_KNOWN_TARGETS) return
    for (const [oldest, { inFlight }] of this.#targets) {
      if (inFlight > 0) continue
      this.#targets.delete(oldest)
      return
    }
  }
}

/** Whether a subscription fails, or a request to it has been in flight for long. */
function isHeld({ sentAt, isFailing }: SubscriptionState, now: number): boolean {
  return isFailing || (sentAt[0] !== undefined && now - sentAt[0] > SLOW_MILLISECONDS)
}

/** Forgets a subscription that does not fail; one that does becomes the newest, and the oldest of too many is forgotten. */
function forgetOrKeepLast(
  subscriptions: Map<string, SubscriptionState>,
  id: string,
  state: SubscriptionState,
): void {
  subscriptions.delete(id)
  if (!state.isFailing) return
  subscriptions.set(id, state)
  if (subscriptions.size <= MAX_KNOWN_FAILING) return
  for (const [oldest, { sentAt }] of subscriptions) {
    if (sentAt.length > 0) continue
    subscriptions.delete(oldest)
    return
  }
}
