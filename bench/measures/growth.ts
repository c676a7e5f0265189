/** The same work in worlds of several sizes: whether it gets slower because there is more of everything. */
import type { Children, Served } from '../load/children.ts'
import type { LoadResult } from '../load/load.ts'
import { drawPicture } from '../report/picture.ts'
import { median } from '../report/statistics.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { type BenchWorld, SMALLEST, type WorldSize } from '../world/world.ts'
import type { Comparison } from './comparison.ts'
import { loadOn, startLeastServer } from './measure.ts'
import { prepare } from './prepare.ts'
import { inTurns, ofSide, type Pace } from './rounds.ts'

const STEP = 10
const GOAL = 0.9

/** One scenario in all sizes, the smallest first. */
export interface GrowthLine {
  readonly name: string
  readonly work: string
  readonly points: readonly GrowthPoint[]
  /** The same for the least server, where there is one: what of the loss no server of this design can avoid. */
  readonly least?: readonly GrowthPoint[]
}

interface GrowthPoint {
  readonly size: WorldSize
  readonly bodyBytes: number
  readonly rounds: readonly LoadResult[]
}

/** A world with its server. */
export interface Inhabited {
  readonly world: BenchWorld
  readonly strand: Served
}

/** From the smallest world to this one, ten times as much each time. */
export function growthSizes(largest: WorldSize): WorldSize[] {
  const sizes: WorldSize[] = []
  let { streams, entitlements }: WorldSize = SMALLEST
  while (streams < largest.streams) {
    sizes.push({ streams, entitlements: Math.min(entitlements, largest.entitlements) })
    streams *= STEP
    entitlements *= STEP
  }
  return [...sizes, largest]
}

/** All servers are up; the load goes from one to the next, round after round. */
export async function measureGrowth(
  { children, folder, pace }: { children: Children; folder: string; pace: Pace },
  inhabited: readonly Inhabited[],
  scenario: Scenario,
): Promise<GrowthLine> {
  const prepared: Awaited<ReturnType<typeof prepare>>[] = []
  for (const { world, strand } of inhabited) prepared.push(await prepare(world, strand, scenario))
  const readyIn = (index: number) => {
    const ready = prepared[index]
    if (ready === undefined) throw new Error('every size was prepared')
    return ready
  }
  const least: Served[] = []
  if (scenario.goals.some(({ against }) => against === 'least server')) {
    for (const [index, each] of inhabited.entries())
      least.push(await startLeastServer({ children, folder, ...each }, scenario, readyIn(index)))
  }
  const servers = [...inhabited.map(({ strand }) => strand), ...least]
  const sides = servers.map((server, index) =>
    loadOn({ children, folder }, server, scenario, readyIn(index % inhabited.length)),
  )
  const rounds = await inTurns(pace, sides)
  for (const server of least) await server.stop()
  const pointsFrom = (first: number) =>
    inhabited.map(({ world }, index) => ({
      size: world.size,
      bodyBytes: readyIn(index).body.length,
      rounds: ofSide(rounds, first + index),
    }))
  return {
    name: scenario.name,
    work: scenario.work,
    points: pointsFrom(0),
    ...(least.length > 0 && { least: pointsFrom(inhabited.length) }),
  }
}

/** The largest size against the smallest, which the goal is about. */
export function toComparison({ name, work, points }: GrowthLine): Comparison {
  const [small, large] = [points[0], points.at(-1)]
  if (small === undefined || large === undefined) throw new Error('growth needs two sizes')
  return {
    name: `${name}, growth`,
    work,
    bodyBytes: large.bodyBytes,
    baseline: 'small world',
    goal: `>= ${GOAL} of small world`,
    atLeast: GOAL,
    compared: 'perSecond',
    strand: large.rounds,
    against: small.rounds,
  }
}

/** The median of the ratios of the rounds, as everywhere. */
function relativeRate({ points }: Pick<GrowthLine, 'points'>, { rounds }: GrowthPoint): number {
  const smallest = points[0]?.rounds ?? []
  return median(rounds.map((each, round) => each.perSecond / (smallest[round]?.perSecond ?? Number.NaN)))
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

export function growthPicture(lines: readonly GrowthLine[]): string {
  const sizes = lines[0]?.points.map(each => each.size.streams) ?? []
  const series = lines.map(line => ({
    name: line.work,
    points: line.points.map(point => [point.size.streams, relativeRate(line, point)] as const),
  }))
  const rates = series.flatMap(each => each.points.map(([, rate]) => rate))
  const worst = series.map(each => `${each.name} ${each.points.at(-1)?.[1].toFixed(2)}`).join(', ')
  return drawPicture({
    title: 'Rate of Strand as the world grows',
    description: `Requests per second relative to the smallest world, against live streams. In the largest: ${worst}. The goal is ${GOAL}.`,
    panels: [
      {
        title: 'Requests per second, relative to the smallest world',
        across: {
          label: 'live streams (ten times as many entitlements)',
          scale: 'logarithmic',
          low: Math.min(...sizes),
          high: Math.max(...sizes),
          ticks: sizes,
        },
        upward: {
          label: 'relative rate',
          low: Math.min(0.5, ...rates.map(rate => Math.floor(rate * 10) / 10)),
          high: Math.max(1.1, ...rates.map(rate => Math.ceil(rate * 10) / 10)),
        },
        series,
        goal: { value: GOAL, label: `goal ${GOAL}` },
      },
    ],
  })
}

/** Requests per second at every size, and what remains of the smallest world's rate. */
export function growthTable(lines: readonly GrowthLine[]): string {
  const sizes = lines[0]?.points.map(each => each.size) ?? []
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const cell = (line: Pick<GrowthLine, 'points'>, point: GrowthPoint) => {
    const rate = whole(median(point.rounds.map(each => each.perSecond)))
    return point === line.points[0] ? rate : `${rate} (${relativeRate(line, point).toFixed(2)})`
  }
  return [
    row([
      'Requests/s with',
      ...sizes.map(each => `${whole(each.streams)} streams, ${whole(each.entitlements)} entitlements`),
    ]),
    row(['---', ...sizes.map(() => '---')]),
    ...lines.flatMap(({ work, points, least }) =>
      [{ work, points }, ...(least ? [{ work: '— the least server', points: least }] : [])].map(line =>
        row([line.work, ...line.points.map(point => cell(line, point))]),
      ),
    ),
    '',
  ].join('\n')
}
