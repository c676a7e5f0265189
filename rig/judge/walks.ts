/** A walk through all pages of the directory. */
export interface Walk {
  /** The user ids of its rows, in the order shown. */
  readonly shown: readonly string[]
  /** Which server answered each page. */
  readonly servers: readonly string[]
  /** Whether every page was answered. */
  readonly whole: boolean
}

export interface WalkFaults {
  readonly twice: number
  readonly missing: number
  readonly neverLive: number
}

/** Who was live throughout is shown exactly once, a channel that came or went at most once, and no other at all. */
export function faultsOfWalk(
  walk: Walk,
  { throughout, sometimes }: { throughout: readonly string[]; sometimes: ReadonlySet<string> },
): WalkFaults {
  const shown = new Set(walk.shown)
  const steady = new Set(throughout)
  return {
    twice: walk.shown.length - shown.size,
    missing: throughout.filter(id => !shown.has(id)).length,
    neverLive: [...shown].filter(id => !steady.has(id) && !sometimes.has(id)).length,
  }
}
