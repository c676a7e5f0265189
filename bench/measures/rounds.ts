import type { LoadResult } from '../load/load.ts'

/** How long everything is measured. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

/** One of several that are compared: puts it under load for so long. */
export type Side = (seconds: number) => Promise<LoadResult>

/** Warms every side up, then measures them in turn, round after round: what disturbs one of them disturbs the others too. */
export async function inTurns(pace: Pace, sides: readonly Side[]): Promise<LoadResult[][]> {
  for (const side of sides) await side(pace.warmUpSeconds)
  const rounds: LoadResult[][] = []
  for (let round = 0; round < pace.rounds; round++) {
    const results: LoadResult[] = []
    for (const side of sides) results.push(await side(pace.seconds))
    rounds.push(results)
  }
  return rounds
}

/** What one side did in all rounds. */
export function ofSide(rounds: readonly (readonly LoadResult[])[], side: number): LoadResult[] {
  return rounds.map(round => round[side] ?? { perSecond: Number.NaN, p99: Number.NaN })
}

/** How long that takes, with what it takes to prepare. */
export function secondsOfTurns({ rounds, seconds, warmUpSeconds }: Pace, sides: number): number {
  return sides * (warmUpSeconds + rounds * seconds + 0.1) + 3
}
