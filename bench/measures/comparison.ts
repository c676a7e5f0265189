import type { LoadResult } from '../load/load.ts'

/** Two sides of one measurement, round by round. */
export interface Comparison {
  readonly name: string
  readonly work: string
  readonly bodyBytes: number
  readonly baseline: string
  readonly goal: string
  readonly atLeast?: number
  readonly atMost?: number
  /** Which figure of the two sides the goal is about. */
  readonly compared: keyof LoadResult
  readonly strand: readonly LoadResult[]
  readonly against: readonly LoadResult[]
}
