/** Sides that are compared, in interleaved rounds: what disturbs one of them disturbs the others too. */
import type { Bench, Inhabited, Pace, Result } from '../bench.ts'
import type { Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { runWrk, wrkTarget } from '../load/wrk.ts'
import { whole } from '../report.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { median } from '../statistics.ts'
import { type Prepared, prepare } from './prepare.ts'

const CONNECTIONS = 32
const SETTLE_MILLISECONDS = 50

/** What one side did in one round. */
export interface Round {
  readonly perSecond: number
  /** Where it was measured. */
  readonly p99?: number
  /** Requests for each second of the server's processor time. */
  readonly perCore?: number
  /** Microseconds of the server's processor time for each request. */
  readonly cost?: number
}

/** Puts one of those that are compared under load for so long. */
export type Side = (seconds: number) => Promise<Round>

/** Warms every side up, then measures them in turn. Gives the rounds of each side. */
export async function inTurns(pace: Pace, sides: readonly Side[]): Promise<Round[][]> {
  for (const side of sides) await side(pace.warmUpSeconds)
  const rounds: Round[][] = sides.map(() => [])
  for (let round = 0; round < pace.rounds; round++) {
    for (const [index, side] of sides.entries()) rounds[index]?.push(await side(pace.seconds))
  }
  return rounds
}

/** How long that takes, with what it takes to prepare. */
export function secondsOfTurns({ rounds, seconds, warmUpSeconds }: Pace, sides: number): number {
  return sides * (warmUpSeconds + rounds * seconds + 0.3) + 3
}

/** One server under wrk. wrk leaves when its time is over, and what it had asked for is still worked on: that ends first. */
export function loadOn(
  bench: Bench,
  { url, pid }: Served,
  { requests, body }: Pick<Prepared, 'requests' | 'body'>,
  connections = CONNECTIONS,
): Side {
  const target = wrkTarget(bench.folder(`load-${pid}-${connections}`), url, requests)
  return async seconds => {
    const before = processorSecondsOf(pid)
    const load = { target, connections, seconds, bodyBytes: body.length }
    const { perSecond, p99 } = await runWrk(bench.processes, load)
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    await Bun.sleep(SETTLE_MILLISECONDS)
    const perCore = (perSecond * seconds) / (processorSecondsOf(pid) - before)
    return { perSecond, p99, perCore, cost: 1e6 / perCore }
  }
}

/** The median of the ratios of the rounds: the two sides of a round ran one after the other. */
export function ratioOf(
  work: string,
  compared: keyof Round,
  strand: readonly Round[],
  against: readonly Round[],
  baseline: string,
): Result {
  const ratios = strand.map((round, n) => (round[compared] ?? NaN) / (against[n]?.[compared] ?? NaN))
  const both = [strand, against].map(side => median(side.map(round => round[compared] ?? NaN)))
  const format = { p99: (ms: number) => `${ms.toFixed(2)} ms`, cost: (µs: number) => `${µs.toFixed(1)} µs` }
  const values = both.map(value =>
    compared in format ? format[compared as 'p99'](value) : `${whole(value)}/s`,
  )
  const p99 = median(strand.map(round => round.p99 ?? NaN))
  const details = [
    values.join(' of '),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    ...(compared === 'p99' || Number.isNaN(p99) ? [] : [`p99 ${p99.toFixed(1)} ms`]),
  ]
  return { work, value: median(ratios), unit: `of ${baseline}`, details: details.join('; ') }
}

/** Scenarios on two servers, each with a world: the first of them by what the second does. Both end then. */
export async function compareServers(
  bench: Bench,
  scenarios: readonly Scenario[],
  servers: readonly [Inhabited, Inhabited],
  compared: keyof Round,
  baseline: string,
): Promise<Result[]> {
  const results: Result[] = []
  for (const scenario of scenarios) {
    const sides: Side[] = []
    for (const { world, strand } of servers)
      sides.push(loadOn(bench, strand, await prepare(world, strand, scenario)))
    const [one = [], other = []] = await inTurns(bench.plan.pace, sides)
    results.push(ratioOf(scenario.work, compared, one, other, baseline))
  }
  await Promise.all(servers.map(({ strand }) => strand.stop()))
  return results
}
