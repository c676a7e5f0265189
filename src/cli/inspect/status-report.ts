/** What `strand status` shows, from what a server reports about itself. Pure: reading is in `status.ts`. */
import type { Finding } from '../../maintenance/finding.ts'
import type { Paint, Style } from '../terminal/colour.ts'
import { printable } from '../terminal/printable.ts'
import { formatDuration } from '../terminal/progress.ts'
import { longTime, type Zone } from '../terminal/time.ts'
import { wrap } from '../terminal/width.ts'
import { labelIn, metricIn, sumIn } from './server-metrics.ts'

export type State = 'ready' | 'not ready' | 'not running' | 'unreachable'

export interface Listener {
  readonly name: string
  readonly url: string
  readonly answers: boolean
}

export interface StatusReport {
  readonly server: string
  readonly state: State
  readonly version: string | null
  readonly store: string | null
  readonly store_bytes: number
  readonly live_streams: number
  readonly viewers: number
  /** Null if no server is running. */
  readonly started_at: string | null
  readonly stale_seconds: number
  readonly webhooks_pending: number
  readonly listeners: readonly Listener[]
  readonly problems: readonly string[]
}

const STALE_SECONDS = 10
const WEBHOOK_LAG_SECONDS = 300
const FREE_PART = 0.05

interface Observed {
  readonly server: string
  readonly state: State
  /** The text of /metrics; undefined if the server cannot be reached. */
  readonly metrics: string | undefined
  readonly listeners: readonly Listener[]
  /** What the doctor found on this machine. */
  readonly findings: readonly Finding[]
}

export function statusReport({ server, state, metrics = '', listeners, findings }: Observed): StatusReport {
  const started = state === 'not running' ? undefined : metricIn(metrics, 'process_start_time_seconds')
  return {
    server,
    state,
    version: labelIn(metrics, 'strand_build_info', 'version') ?? null,
    store: labelIn(metrics, 'strand_build_info', 'store') ?? null,
    store_bytes: sumIn(metrics, 'strand_store_file_bytes'),
    live_streams: metricIn(metrics, 'strand_directory_streams') ?? 0,
    viewers: metricIn(metrics, 'strand_directory_viewers') ?? 0,
    started_at: started === undefined ? null : new Date(started * 1000).toISOString(),
    stale_seconds: metricIn(metrics, 'strand_feed_stale_seconds') ?? 0,
    webhooks_pending: metricIn(metrics, 'strand_webhooks_pending') ?? 0,
    listeners,
    problems: [
      ...problemsIn(metrics, state),
      ...listeners
        .filter(({ answers }) => !answers)
        .map(({ name, url }) => `the ${name} listener at ${url} does not answer`),
      ...findings
        .filter(({ level }) => level === 'problem' || level === 'warning')
        .map(
          ({ about, message, advice }) => `${about}: ${message}${advice === undefined ? '' : `; ${advice}`}`,
        ),
    ],
  }
}

/** Problems that the metrics of a running server show. */
function problemsIn(metrics: string, state: State): string[] {
  if (state === 'unreachable') return ['the server cannot be reached']
  if (state === 'not running')
    return ['no server answers: start one with strand serve, or give the URL of one with --url']
  const value = (name: string) => metricIn(metrics, name)
  const stale = value('strand_feed_stale_seconds') ?? 0
  const lag = value('strand_webhook_lag_seconds') ?? 0
  const [free = 1, size = 1] = [value('strand_data_disk_free_bytes'), value('strand_data_disk_size_bytes')]
  return [
    state === 'not ready' && 'the server is not ready: it is starting or stopping, or cannot use its store',
    value('strand_store_writable') === 0 && 'the store cannot be written',
    stale > STALE_SECONDS && `the server has not read its store for ${formatDuration(stale)}`,
    lag > WEBHOOK_LAG_SECONDS && `webhooks are late by ${formatDuration(lag)}`,
    free / size < FREE_PART && `the disk of the data folder has ${bytes(free)} left`,
  ].filter(each => each !== false)
}

const STATE_STYLES: Readonly<Record<State, Style>> = {
  ready: 'green',
  'not ready': 'yellow',
  'not running': 'red',
  unreachable: 'red',
}

interface Look extends Zone {
  readonly width: number
  readonly paint: Paint
  readonly now: number
}

const LABEL_WIDTH = 11

/** One screen. */
export function showStatus(report: StatusReport, { width, paint, utc, now }: Look): string {
  const { version, state, started_at, listeners, problems } = report
  const row = (label: string, value: string) => `${paint(label.padEnd(LABEL_WIDTH), 'dim')}${value}\n`
  const below = (lines: readonly string[]) => lines.join(`\n${' '.repeat(LABEL_WIDTH)}`)
  const started =
    started_at === null
      ? '-'
      : `${longTime(started_at, { utc })}, ${formatDuration((now - Date.parse(started_at)) / 1000)} ago`
  const names = Math.max(0, ...listeners.map(({ name }) => name.length))
  const reachable = listeners.map(
    ({ name, url, answers }) =>
      `${name.padEnd(names)}  ${printable(url)}  ${answers ? paint('answers', 'green') : paint('does not answer', 'red')}`,
  )
  const found = problems.flatMap(problem => wrap(printable(problem), width - LABEL_WIDTH))
  return [
    `${paint(`Strand${version === null ? '' : ` ${version}`}`, 'bold')} at ${report.server}: ${paint(state, STATE_STYLES[state])}\n\n`,
    row('Live', `${count(report.live_streams)} streams, ${count(report.viewers)} viewers`),
    row('Store', storeLine(report)),
    row('Started', started),
    row('Webhooks', `${count(report.webhooks_pending)} waiting`),
    row('Listeners', reachable.length === 0 ? '-' : below(reachable)),
    row('Problems', problems.length === 0 ? paint('none', 'green') : paint(below(found), 'red')),
  ].join('')
}

function storeLine({ store, store_bytes, stale_seconds }: StatusReport): string {
  if (store === null) return '-'
  const name = { sqlite: 'embedded (SQLite)', postgres: 'PostgreSQL' }[store] ?? store
  const size = store_bytes > 0 ? `, ${bytes(store_bytes)}` : ''
  return `${name}${size}, read ${stale_seconds.toFixed(1)} s ago`
}

const count = (value: number) => value.toLocaleString('en-US')

function bytes(value: number): string {
  const [unit, size] = value >= 1e9 ? ['GB', 1e9] : value >= 1e6 ? ['MB', 1e6] : ['kB', 1e3]
  return `${(value / (size as number)).toFixed(1)} ${unit}`
}
