import { compareDecimal } from '../kit/decimal.ts'

/** The sort key of a stream in the directory, or of a game with the viewers of all its streams. */
export interface Rank {
  readonly viewer_count: number
  readonly id: string
}

/** Most viewers first, then the larger id (D-31). Negative: `a` comes before `b`. */
export function compareRank(a: Rank, b: Rank): number {
  return b.viewer_count - a.viewer_count || compareDecimal(b.id, a.id)
}
