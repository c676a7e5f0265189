/** The charts of the overview. */
import type { Line } from '../components/line-chart.tsx'
import type { HistoryPoint } from './history.ts'

export interface ChartLine {
  readonly name: string
  readonly of: Exclude<keyof HistoryPoint, 'at'>
  readonly tone: NonNullable<Line['tone']>
}

interface Chart {
  readonly title: string
  readonly unit: 'count' | 'milliseconds'
  readonly lines: readonly ChartLine[]
}

export const CHARTS: readonly Chart[] = [
  { title: 'Viewers', unit: 'count', lines: [{ name: 'Viewers', of: 'viewers', tone: 'accent' }] },
  { title: 'Live channels', unit: 'count', lines: [{ name: 'Channels', of: 'live', tone: 'live' }] },
  {
    title: 'Requests per second',
    unit: 'count',
    lines: [{ name: 'Requests', of: 'requests', tone: 'accent' }],
  },
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
    unit: 'count',
    lines: [
      { name: '4xx', of: 'refused', tone: 'warn' },
      { name: '5xx', of: 'failed', tone: 'bad' },
    ],
  },
  {
    title: 'Store commands per second',
    unit: 'count',
    lines: [{ name: 'Commands', of: 'commands', tone: 'accent' }],
  },
  { title: 'Writer queue', unit: 'count', lines: [{ name: 'Waiting', of: 'queue', tone: 'warn' }] },
  { title: 'Feed lag', unit: 'milliseconds', lines: [{ name: 'Lag', of: 'lag', tone: 'quiet' }] },
]
