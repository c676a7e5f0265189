/**
 * How many requests may be in flight. Each target has a few slots, and all of them a total. Targets that have not taken a
 * message yet, or failed to take the last one, share half of the total: however many of them hang, there is room for the
 * others.
 */
import type { Room } from '../store/commands/event-deliveries.ts'

export interface SlotLimits {
  readonly ofTarget: number
  readonly total: number
}

/** After this many targets the ones that were idle longest are forgotten. */
const MAX_KNOWN = 10_000

interface TargetState {
  inFlight: number
  /** How the last request ended; undefined before that. */
  tookLast: boolean | undefined
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

  /** The room at each target, as long as there is some in total. Targets without room are left out. */
  freeAt(targets: readonly string[]): Room[] {
    let left = this.free
    let leftForUnproven = Math.floor(this.#limits.total / 2) - this.#unproven
    const free: Room[] = []
    for (const target of targets) {
      const { inFlight, tookLast } = this.#targets.get(target) ?? { inFlight: 0, tookLast: undefined }
      // One request finds out whether a failing target has recovered.
      const limit = tookLast === false ? 1 : this.#limits.ofTarget
      const most = Math.min(limit - inFlight, left, tookLast === true ? left : leftForUnproven)
      if (most <= 0) continue
      free.push({ target, most })
      left -= most
      if (tookLast !== true) leftForUnproven -= most
    }
    return free
  }

  /** Takes a slot. The returned function gives it back, with how the request ended. */
  take(target: string): (took: boolean) => void {
    const state = this.#targets.get(target) ?? { inFlight: 0, tookLast: undefined }
    this.#remember(target, state)
    const isUnproven = state.tookLast !== true
    state.inFlight += 1
    this.#inFlight += 1
    if (isUnproven) this.#unproven += 1
    return took => {
      state.inFlight -= 1
      state.tookLast = took
      this.#inFlight -= 1
      if (isUnproven) this.#unproven -= 1
    }
  }

  #remember(target: string, state: TargetState): void {
    this.#targets.delete(target)
    this.#targets.set(target, state)
    if (this.#targets.size <= MAX_KNOWN) return
    for (const [oldest, { inFlight }] of this.#targets) {
      if (inFlight > 0) continue
      this.#targets.delete(oldest)
      return
    }
  }
}
