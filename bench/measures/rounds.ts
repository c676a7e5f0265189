/** Servers that are compared, in interleaved rounds: what disturbs one of them disturbs the others too. */
import type { Bench, LoadResult, Pace, Result } from '../bench.ts'
import type { Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { runWrk, wrkTarget } from '../load/wrk.ts'
import { median } from '../statistics.ts'
import type { Prepared } from './prepare.ts'

const CONNECTIONS = 32
const SETTLE_MILLISECONDS = 50

/** One of those that are compared: what it does under load for so long. */
export interface Side {
  /** The part of the warm-up that it needs. */
  readonly warmUp: number
  run(seconds: number): Promise<LoadResult>
}

/** Warms every side up, then measures them in turn. Gives the rounds of each side. */
export async function inTurns(pace: Pace, sides: readonly Side[]): Promise<LoadResult[][]> {
  for (const side of sides) await side.run(Math.ceil(side.warmUp * pace.warmUpSeconds))
  const rounds: LoadResult[][] = sides.map(() => [])
  for (let round = 0; round < pace.rounds; round++) {
    for (const [index, side] of sides.entries()) rounds[index]?.push(await side.run(pace.seconds))
  }
  return rounds
}

/** How long that takes, with what it takes to prepare. */
export function secondsOfTurns({ rounds, seconds, warmUpSeconds }: Pace, sides: number): number {
  return sides * (0.7 * warmUpSeconds + rounds * seconds + 0.5) + 2
}

/** One server under wrk. wrk leaves when its time is over, and what it had asked for is still worked on: that ends first. */
export function loadOn(
  bench: Bench,
  { url, pid }: Served,
  { requests, body }: Pick<Prepared, 'requests' | 'body'>,
  warmUp = 1,
): Side {
  const target = wrkTarget(bench.folder(`load-${pid}`), url, requests)
  const run = async (seconds: number) => {
    const before = processorSecondsOf(pid)
    const load = { target, connections: CONNECTIONS, seconds, bodyBytes: body.length }
    const { perSecond, p99 } = await runWrk(bench.processes, load)
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    await Bun.sleep(SETTLE_MILLISECONDS)
    return { perSecond, p99, cost: (1e6 * (processorSecondsOf(pid) - before)) / (perSecond * seconds) }
  }
  return { warmUp, run }
}

/**
 * How much processor time of the baseline a request of Strand takes, or the other way round: the median of the ratios of the
 * rounds, because both sides of a round ran one after the other.
 */
export function compareCosts(
  work: string,
  strand: readonly LoadResult[],
  against: readonly LoadResult[],
  unit: string,
  compared: 'speed' | 'cost' = 'speed',
): Result {
  const ratios = strand.map(({ cost }, n) => {
    const other = against[n]?.cost ?? Number.NaN
    return compared === 'cost' ? cost / other : other / cost
  })
  return {
    work,
    value: median(ratios),
    unit,
    spread: [Math.min(...ratios), Math.max(...ratios)],
    strand: medians(strand),
    against: medians(against),
  }
}

function medians(rounds: readonly LoadResult[]): LoadResult {
  const middle = (name: keyof LoadResult) => median(rounds.map(round => round[name]))
  return { cost: middle('cost'), perSecond: middle('perSecond'), p99: middle('p99') }
}
