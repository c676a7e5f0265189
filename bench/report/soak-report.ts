/** The results of a soak, and whether they are steady. */

import type { WorldSize } from '../world/world.ts'
import { type Circumstances, inWords } from './circumstances.ts'
import { Latencies } from './latencies.ts'
import { drawPicture } from './picture.ts'
import { median, type Trend, trendOf } from './statistics.ts'

const STRETCHES_OF_WINDOW = 5
const STEEPEST = 1
const SLOWEST = 1.1

/** A minute; in a short run less. */
export interface Stretch {
  readonly untilSecond: number
  readonly requests: number
  /** Starts, ends and reports of viewers. */
  readonly changes: number
  readonly errors: number
  readonly violation?: string
  readonly p50: number
  readonly p99: number
  readonly latencies: readonly number[]
  /** The p99 delay of the generator. */
  readonly generatorDelay: number
  /** Medians of samples taken every second, memory in MB. */
  readonly resident: number
  readonly own: number
  readonly files: number
  /** Processor time of the server divided by the time that passed. */
  readonly processorShare: number
}

export interface SoakReport extends Circumstances {
  readonly size: WorldSize
  readonly minutes: number
  readonly knee: number
  readonly perSecond: number
  readonly stretches: readonly Stretch[]
}

interface Verdict {
  readonly trend: Trend
  readonly ownEarly: number
  readonly ownLate: number
  readonly p99Early: number
  readonly p99Late: number
  readonly errors: number
  readonly filesEarly: number
  readonly filesLate: number
}

/**
 * The first stretch is warm-up. Latency: the five after it against the last five. Memory: what is kept for five minutes
 * has to fill first, so it is looked at from the sixth stretch on: the five from there against the last five, and a
 * straight line through all. A short run has windows of a quarter of its stretches.
 */
function judge({ stretches }: SoakReport): Verdict {
  const window = Math.min(STRETCHES_OF_WINDOW, Math.floor(stretches.length / 4))
  const last = stretches.slice(-window)
  const p99 = (of: readonly Stretch[]) =>
    Latencies.together(of.map(each => new Latencies(each.latencies))).quantile(0.99)
  const own = (of: readonly Stretch[]) => median(of.map(each => each.own))
  const files = (of: readonly Stretch[]) => median(of.map(each => each.files))
  return {
    trend: trendOf(stretches.slice(window).map(each => [each.untilSecond / 600, each.own])),
    ownEarly: own(stretches.slice(window, 2 * window)),
    ownLate: own(last),
    p99Early: p99(stretches.slice(1, 1 + window)),
    p99Late: p99(last),
    errors: stretches.reduce((sum, each) => sum + each.errors, 0),
    filesEarly: files(stretches.slice(1, 1 + window)),
    filesLate: files(last),
  }
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')
const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(1)}`

/** The verdict as Markdown, ready for the README. */
export function soakMarkdown(report: SoakReport): string {
  const { size, minutes, knee, perSecond, stretches } = report
  const { trend, ownEarly, ownLate, p99Early, p99Late, errors, filesEarly, filesLate } = judge(report)
  const requests = stretches.reduce((sum, each) => sum + each.requests, 0)
  const changes = stretches.reduce((sum, each) => sum + each.changes, 0)
  const delay = median(stretches.map(each => each.generatorDelay))
  const share = median(stretches.map(each => each.processorShare))
  const violation = stretches.find(each => each.violation !== undefined)?.violation
  const isShort = minutes < 2 * STRETCHES_OF_WINDOW
  const rows: [name: string, measured: string, goal: string, isReached?: boolean | undefined][] = [
    [
      'Private memory, slope per 10 minutes',
      `${signed(trend.slope)} MB (R² ${trend.rSquared.toFixed(2)})`,
      `< ${STEEPEST} MB`,
      isShort ? undefined : trend.slope < STEEPEST,
    ],
    [
      'Private memory, early and at the end',
      `${ownEarly.toFixed(1)} and ${ownLate.toFixed(1)} MB (${signed(ownLate - ownEarly)})`,
      'none',
    ],
    [
      'p99, first and last window',
      `${p99Early.toFixed(1)} and ${p99Late.toFixed(1)} ms (**${(p99Late / p99Early).toFixed(2)}**)`,
      `<= ${SLOWEST} of the first`,
      p99Late / p99Early <= SLOWEST,
    ],
    ['Errors', whole(errors), '0', errors === 0],
    [
      'Open files, first and last window',
      `${filesEarly} and ${filesLate}`,
      'the same',
      filesEarly === filesLate,
    ],
  ]
  const what = `${whole(size.streams)} live streams, ${whole(size.entitlements)} entitlements; ${minutes} minutes at ${whole(perSecond)} requests per second, half of the knee at ${whole(knee)}`
  return [
    inWords(report, what),
    `${whole(requests)} requests and ${whole(changes)} changes used ${(100 * share).toFixed(0)} % of a core; the generator was late by ${delay.toFixed(1)} ms at p99.`,
    ...(isShort
      ? ['This run is too short for a verdict: memory is still filling, and its slope means nothing.']
      : []),
    ...(violation === undefined ? [] : [`The first error: \`${violation.slice(0, 200)}\``]),
    '',
    '| Soak | Measured | Goal | Status |',
    '|---|---|---|---|',
    ...rows.map(
      ([name, measured, goal, isReached]) =>
        `| ${name} | ${measured} | ${goal} | ${isReached === undefined ? '' : isReached ? 'reached' : 'not yet'} |`,
    ),
    '',
  ].join('\n')
}

export function soakPicture(report: SoakReport): string {
  const { minutes, stretches } = report
  const over = (of: (stretch: Stretch) => number) =>
    stretches.map(each => [each.untilSecond / 60, of(each)] as const)
  const across = { label: 'minutes', low: 0, high: minutes }
  const above = (values: readonly number[]) => Math.max(...values) * 1.15
  const { ownEarly, ownLate, p99Early, p99Late } = judge(report)
  return drawPicture({
    title: `Memory and latency of Strand in ${minutes} minutes of mixed load`,
    description: `Private memory ${ownEarly.toFixed(0)} MB early and ${ownLate.toFixed(0)} MB at the end; p99 ${p99Early.toFixed(1)} ms early and ${p99Late.toFixed(1)} ms at the end.`,
    panels: [
      {
        title: 'Memory of the process, MB',
        across,
        upward: { label: 'MB', low: 0, high: above(stretches.map(each => each.resident)) },
        series: [
          { name: 'private', points: over(each => each.own) },
          { name: 'resident, with pages of the mapped store', points: over(each => each.resident) },
        ],
      },
      {
        title: 'Latency from the moment a request was due, ms',
        across,
        upward: { label: 'ms', low: 0, high: above(stretches.map(each => each.p99)) },
        series: [
          { name: 'p99', points: over(each => each.p99) },
          { name: 'p50', points: over(each => each.p50) },
        ],
      },
    ],
  })
}
