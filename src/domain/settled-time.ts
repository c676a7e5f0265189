/**
 * The time that deletions go by. What has expired is refused by the clock as it is, which does no lasting harm when the
 * clock is wrong. Deleting does: a clock that is two months ahead for a minute would end everything that is kept for one. So
 * the settled time moves at the pace of time that really passed. Where the clock is further ahead than that, because it
 * jumped or because nothing ran for a while, it is believed once it has run steadily for a settling period. A clock that is
 * set back is believed at once: then less is deleted.
 */

/** Further ahead than this is a jump. Less is a slow sweep, a restart, or a clock being corrected. */
export const JUMP_MILLISECONDS = 10 * 60 * 1000

/** Kept in the store, so that a restart does not make a wrong clock right. */
export interface SettledTime {
  /** Never ahead of the clock. */
  readonly settled: number
  /** What the clock said at the last look. */
  readonly seen: number
  /** The time that the clock claims, as it was when it jumped and has run since, and for how long it has. */
  readonly candidate?: { readonly time: number; readonly steadyFor: number }
}

interface ClockLook {
  readonly now: number
  /** How much time has passed since the last look, by a clock that does not jump; 0 if that is not known. */
  readonly passed: number
}

export interface Settling extends SettledTime {
  /** By how much the clock moved more than time passed, if that is a jump; negative if it was set back. */
  readonly jump?: number
}

/** `before` is undefined in a store that has not been looked after yet. */
export function settleTime(
  before: SettledTime | undefined,
  { now, passed }: ClockLook,
  settlingMilliseconds: number,
): Settling {
  if (before === undefined) return { settled: now, seen: now }
  const moved = now - before.seen - passed
  const jump = Math.abs(moved) > JUMP_MILLISECONDS ? { jump: moved } : {}
  const expected = before.settled + passed
  if (now <= expected + JUMP_MILLISECONDS) return { settled: now, seen: now, ...jump }

  const candidate = continued(before.candidate, now, passed)
  if (candidate.steadyFor < settlingMilliseconds) return { settled: expected, seen: now, candidate, ...jump }
  // The clock may have jumped once more meanwhile: then only the time that ran steadily is believed.
  if (now <= candidate.time + JUMP_MILLISECONDS) return { settled: now, seen: now, ...jump }
  return { settled: candidate.time, seen: now, candidate: { time: now, steadyFor: 0 }, ...jump }
}

/** A candidate goes on while the clock is not behind it. */
function continued(candidate: SettledTime['candidate'], now: number, passed: number) {
  if (candidate === undefined || now < candidate.time + passed - JUMP_MILLISECONDS)
    return { time: now, steadyFor: 0 }
  return { time: candidate.time + passed, steadyFor: candidate.steadyFor + passed }
}
