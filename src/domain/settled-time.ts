/**
 * The time that deletions use. Expiry is checked against the clock directly, because a wrong clock does no lasting damage
 * there. Deletion is final: a clock that is two months ahead for a minute would delete everything that is retained for one
 * month. So the settled time advances only as fast as time passes. If the clock is further ahead, because it jumped or
 * because nothing ran for a while, it is trusted after it has run steadily for a settling period. A clock that is set back
 * is trusted immediately, because then less is deleted.
 */

/** A larger difference is a jump. A smaller one is a slow sweep, a restart, or a clock correction. */
export const JUMP_MILLISECONDS = 10 * 60 * 1000

/** Stored, because a restart must not make a wrong clock trusted. */
export interface SettledTime {
  /** Never ahead of the clock. */
  readonly settled: number
  /** The clock at the last check. */
  readonly seen: number
  /** The time after a jump, advanced since by elapsed time, and how long the clock has run steadily since. */
  readonly candidate?: { readonly time: number; readonly steadyFor: number }
}

interface ClockReading {
  readonly now: number
  /** Time since the last check, by the monotonic clock; 0 if unknown. */
  readonly passed: number
}

export interface Settling extends SettledTime {
  /** How far the clock moved beyond the elapsed time, if that is a jump; negative if it was set back. */
  readonly jump?: number
}

/** `before` is undefined in a store that has had no maintenance yet. */
export function settleTime(
  before: SettledTime | undefined,
  { now, passed }: ClockReading,
  settlingMilliseconds: number,
): Settling {
  if (before === undefined) return { settled: now, seen: now }
  const moved = now - before.seen - passed
  const jump = Math.abs(moved) > JUMP_MILLISECONDS ? { jump: moved } : {}
  const expected = before.settled + passed
  if (now <= expected + JUMP_MILLISECONDS) return { settled: now, seen: now, ...jump }

  const candidate = continued(before.candidate, now, passed)
  if (candidate.steadyFor < settlingMilliseconds) return { settled: expected, seen: now, candidate, ...jump }
  // The clock may have jumped again meanwhile: then only the time that ran steadily is trusted.
  if (now <= candidate.time + JUMP_MILLISECONDS) return { settled: now, seen: now, ...jump }
  return { settled: candidate.time, seen: now, candidate: { time: now, steadyFor: 0 }, ...jump }
}

/** A candidate continues as long as the clock is not behind it. */
function continued(candidate: SettledTime['candidate'], now: number, passed: number) {
  if (candidate === undefined || now < candidate.time + passed - JUMP_MILLISECONDS)
    return { time: now, steadyFor: 0 }
  return { time: candidate.time + passed, steadyFor: candidate.steadyFor + passed }
}
