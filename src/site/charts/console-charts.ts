/** The charts of the overview. */

import { shortCount } from '../format/numbers.ts'
import type { Line } from './line-chart.tsx'

/** One point of every chart. Durations are in milliseconds, rates per second. */
export interface HistoryPoint {
  /** Milliseconds since 1970, by the clock of the machine. */
  readonly at: number
  readonly live: number
  readonly viewers: number
  readonly requests: number
  /** Answers with 4xx and 5xx. */
  readonly refused: number
  readonly failed: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  /** Commands that wait for the writer, or writes for a connection. */
  readonly queue: number
  readonly commands: number
  /** The maximum age of data in memory. */
  readonly lag: number
}

export interface ChartLine {
  readonly name: string
  readonly of: Exclude<keyof HistoryPoint, 'at'>
  readonly tone: NonNullable<Line['tone']>
}

interface Chart {
  readonly title: string
  readonly unit: Unit
  readonly lines: readonly ChartLine[]
}

export type Unit = keyof typeof FORMATS

const formatCount = (value: number) =>
  value < 10 && value % 1 !== 0 ? value.toFixed(1) : shortCount(Math.round(value))

/** A rate is a count per second: its values may be fractions. */
export const FORMATS = {
  count: formatCount,
  rate: (value: number) => `${formatCount(value)}/s`,
  milliseconds: (value: number) =>
    value < 1000
      ? `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`,
} as const

const single = (
  title: string,
  unit: Unit,
  name: string,
  of: ChartLine['of'],
  tone: ChartLine['tone'],
): Chart => ({ title, unit, lines: [{ name, of, tone }] })

export const CHARTS: readonly Chart[] = [
  single('Viewers', 'count', 'Viewers', 'viewers', 'accent'),
  single('Live channels', 'count', 'Channels', 'live', 'live'),
  single('Requests per second', 'rate', 'Requests', 'requests', 'accent'),
  {
    title: 'Latency',
    unit: 'milliseconds',
    lines: [
      { name: 'p50', of: 'p50', tone: 'good' },
      { name: 'p95', of: 'p95', tone: 'accent' },
      { name: 'p99', of: 'p99', tone: 'warn' },
    ],
  },
  {
    title: 'Errors per second',
    unit: 'rate',
    lines: [
      { name: '4xx', of: 'refused', tone: 'warn' },
      { name: '5xx', of: 'failed', tone: 'bad' },
    ],
  },
  single('Store commands per second', 'rate', 'Commands', 'commands', 'accent'),
  single('Writer queue', 'count', 'Waiting', 'queue', 'warn'),
  single('Feed lag', 'milliseconds', 'Lag', 'lag', 'quiet'),
]
