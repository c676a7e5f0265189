import type { LoadResult } from '../load/load.ts'
import type { Comparison } from '../measures/comparison.ts'
import type { GrowthLine } from '../measures/growth.ts'
import { type Circumstances, inWords } from './circumstances.ts'
import { median } from './statistics.ts'

/** A single value: time to the first response, memory, a share of a core. */
export interface Single {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
}

export interface Report extends Circumstances {
  readonly size: string
  readonly pace: string
  readonly comparisons: readonly Comparison[]
  readonly singles: readonly Single[]
  readonly growth: readonly GrowthLine[]
}

/** The ratio of each round: the two sides of a round ran one after the other, under the same disturbances. */
function ratios({ strand, against, compared }: Comparison): number[] {
  return strand.map((result, round) => result[compared] / (against[round]?.[compared] ?? Number.NaN))
}

function standing(value: number, limits: { atLeast?: number; atMost?: number }): string {
  if (limits.atLeast === undefined && limits.atMost === undefined) return ''
  return value >= (limits.atLeast ?? -Infinity) && value <= (limits.atMost ?? Infinity)
    ? 'reached'
    : 'not yet'
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')
const milliseconds = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(value < 10 ? 2 : 0))

function comparisonRow(each: Comparison): string {
  const all = ratios(each)
  const ratio = median(all)
  const middle = (side: readonly LoadResult[], of: keyof LoadResult) => median(side.map(result => result[of]))
  return row([
    each.work,
    whole(middle(each.strand, 'perSecond')),
    `${whole(middle(each.against, 'perSecond'))} (${each.baseline})`,
    `**${ratio.toFixed(2)}** (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`,
    each.goal,
    standing(ratio, each),
    `${milliseconds(middle(each.strand, 'p99'))} / ${milliseconds(middle(each.against, 'p99'))}`,
    whole(each.bodyBytes),
  ])
}

function singleRow(each: Single): string {
  const goal = each.atMost === undefined ? 'none' : `<= ${whole(each.atMost)} ${each.unit}`
  return row([each.name, `${whole(each.value)} ${each.unit}`, goal, standing(each.value, each)])
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** Which goals are reached and which are not, as text. */
function summary({ comparisons, singles }: Report): string {
  const judged = [
    ...comparisons.map(each => ({
      what: `${each.work} (${each.goal})`,
      standing: standing(median(ratios(each)), each),
    })),
    ...singles.map(each => ({ what: each.name, standing: standing(each.value, each) })),
  ].filter(each => each.standing !== '')
  const missed = judged.filter(each => each.standing !== 'reached')
  const reached = `${judged.length - missed.length} of ${judged.length} goals are reached`
  return missed.length === 0
    ? `${reached}.`
    : `${reached}. Not yet: ${missed.map(each => each.what).join('; ')}.`
}

/** The report as Markdown, ready for the README. */
export function toMarkdown(report: Report): string {
  const lines = [inWords(report, `${report.size}; ${report.pace}`), '', summary(report), '']
  if (report.comparisons.length > 0) {
    lines.push(
      '| Work | Strand, requests/s | Baseline, per s | Ratio (spread) | Goal | Status | p99 ms, both | Body bytes |',
      '|---|---|---|---|---|---|---|---|',
      ...report.comparisons.map(comparisonRow),
      '',
    )
  }
  if (report.singles.length > 0) {
    lines.push(
      '| Start, memory, viewers | Measured | Goal | Status |',
      '|---|---|---|---|',
      ...report.singles.map(singleRow),
      '',
    )
  }
  return lines.join('\n')
}
