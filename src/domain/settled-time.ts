/**
 * The time that deletions use. Expiry is checked against the clock directly, because a wrong clock does no lasting damage
 * there. Deletion is final: a clock that is two months ahead for a minute would delete everything that is retained for one
 * month.
 *
 * The rule: of the leads that the clock had over the time that servers have run, deletions use the smallest of the last
 * settling period. A clock that jumps forward, and one that went on while nothing ran, is therefore used after it has run
 * for a whole period; a clock that is set back is used at once, because then less is deleted.
 */

/** A larger difference is a jump. A smaller one is a slow sweep, a restart, or a clock correction. */
export const JUMP_MILLISECONDS = 10 * 60 * 1000
/** Beyond that, the newest lead counts as the one before it, which is smaller. */
const MAX_LEADS = 100

/** Stored, because a restart must not make a wrong clock trusted. */
export interface SettledTime {
  /** How long servers have run. */
  readonly ran: number
  /** The clock at the last check. */
  readonly seen: number
  /** From the smallest to that of the last check, each a jump apart. `at`: when it was last seen, as a value of `ran`. */
  readonly leads: readonly { readonly lead: number; readonly at: number }[]
}

interface ClockReading {
  readonly now: number
  /** Time since the last check, by the monotonic clock; 0 if unknown. */
  readonly passed: number
}

/** `before` is undefined in a store that has had no maintenance yet. */
export function settleTime(
  before: SettledTime | undefined,
  { now, passed }: ClockReading,
  settlingMilliseconds: number,
): SettledTime {
  const ran = (before?.ran ?? 0) + passed
  const lead = now - ran
  const smaller = (before?.leads ?? []).filter(
    each => each.lead < lead - JUMP_MILLISECONDS && each.at > ran - settlingMilliseconds,
  )
  const last = smaller.length < MAX_LEADS ? undefined : smaller.pop()
  return { ran, seen: now, leads: [...smaller, { lead: last?.lead ?? lead, at: ran }] }
}

/** Never ahead of the clock. */
export function settledTime({ ran, seen, leads }: SettledTime): number {
  return Math.min(seen, ran + (leads[0]?.lead ?? 0))
}

/** How far the clock moved beyond the elapsed time, if that is a jump; negative if it was set back. */
export function jumpBetween(before: SettledTime, after: SettledTime): number | undefined {
  const moved = after.seen - before.seen - (after.ran - before.ran)
  return Math.abs(moved) > JUMP_MILLISECONDS ? moved : undefined
}
