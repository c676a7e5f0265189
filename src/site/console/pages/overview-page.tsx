/** @jsxRuntime automatic @jsxImportSource preact */
/** The state of the installation at a glance. */
import { tableAt } from '../../../contract/admin/index.ts'
import { listAudit } from '../../../contract/control/audit.ts'
import { getStreams } from '../../../contract/helix/get-streams.ts'
import { ConsoleCharts } from '../../islands/console-charts.tsx'
import type { Page } from '../../render/page.ts'
import { FactList } from '../cells.tsx'
import { type ConsoleContext, consolePage, OVERVIEW } from '../frame.tsx'
import type { MetricsHistory, OperationLoad } from '../history.ts'
import type { OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { References } from '../references.ts'
import { PlainTable, Table, TableFrame } from '../table.tsx'

const REFRESH_SECONDS = 3
const MAX_ROWS = 8
const MAX_OPERATIONS = 12

export async function overviewPage(
  context: ConsoleContext,
  api: OperatorApi,
  history: MetricsHistory,
): Promise<Page> {
  const [streams, changes] = await Promise.all([
    api.rows(getStreams, { first: MAX_ROWS }),
    api.rows(listAudit, { first: MAX_ROWS }),
  ])
  return consolePage(context, {
    title: 'Overview',
    section: OVERVIEW,
    liveSeconds: REFRESH_SECONDS,
    body: (
      <>
        <ConsoleCharts points={history.since(0)} />
        <div class="columns">
          <div class="part" data-live="operations">
            <div class="part-heading">
              <h2>Operations</h2>
              <span class="quiet small">last 5 minutes</span>
            </div>
            <Operations loads={history.operations()} />
          </div>
          <div class="part" data-live="node">
            <div class="part-heading">
              <h2>Store and process</h2>
              <a href={consolePath('doctor')}>Doctor</a>
            </div>
            <div class="panel">
              <FactList facts={listFacts(history)} />
            </div>
          </div>
          <Rows
            context={context}
            path="streams"
            title="Top streams"
            rows={streams.data}
            columns={STREAM_COLUMNS}
          />
          <Rows
            context={context}
            path="audit"
            title="Latest changes"
            rows={changes.data}
            columns={CHANGE_COLUMNS}
          />
        </div>
      </>
    ),
  })
}

const STREAM_COLUMNS = ['user_id', 'game_id', 'viewer_count', 'started_at']
const CHANGE_COLUMNS = ['at', 'operation', 'actor', 'subject']

interface RowsView {
  readonly context: ConsoleContext
  readonly path: string
  readonly title: string
  readonly rows: readonly Row[]
  readonly columns: readonly string[]
}

/** The first rows of a resource. Streams and changes bring their names along or have none. */
function Rows({ path, title, rows, columns, context }: RowsView) {
  const resource = tableAt(path)
  if (resource === undefined) return null
  return (
    <div class="part compact" data-live={path}>
      <div class="part-heading">
        <h2>{title}</h2>
        <a href={consolePath(path)}>All</a>
      </div>
      {rows.length === 0 ? (
        <p class="empty">{resource.empty}</p>
      ) : (
        <Table
          resource={{ ...resource, actions: [] }}
          columns={columns}
          rows={rows}
          names={References.namesBeside(rows, columns)}
          proof={context.proof}
          title={title}
        />
      )}
    </div>
  )
}

const NONE = <span class="faint">–</span>

function Operations({ loads }: { loads: readonly OperationLoad[] }) {
  if (loads.length === 0) return <p class="empty">No requests in the last minutes.</p>
  return (
    <TableFrame title="Operations">
      <PlainTable
        items={loads.slice(0, MAX_OPERATIONS)}
        itemKey={({ operation }) => operation}
        columns={[
          ['Operation', load => load.operation],
          ['Per second', load => load.perSecond.toFixed(2), 'number'],
          ['p50 ms', load => load.p50.toFixed(1), 'number'],
          ['p95 ms', load => load.p95.toFixed(1), 'number'],
          ['4xx', load => load.refused || NONE, 'number'],
          ['5xx', load => (load.failed ? <span class="failures">{load.failed}</span> : NONE), 'number'],
        ]}
      />
    </TableFrame>
  )
}

function listFacts(history: MetricsHistory): [string, string][] {
  const { version = '–', runtime = '–', store = '–' } = history.labels('strand_build_info')
  const stored =
    history.value('strand_store_file_bytes', 'sum') ?? history.value('strand_store_table_bytes', 'sum')
  const writable = history.value('strand_store_writable') ?? history.value('strand_postgres_primary_known')
  const started = history.value('process_start_time_seconds')
  const workers = history.value('strand_workers_serving')
  return [
    ['Store', store === 'sqlite' ? 'embedded (SQLite)' : store],
    ['Accepts writes', writable === undefined ? '–' : writable === 1 ? 'Yes' : 'No'],
    ['Size of the store', bytes(stored)],
    ['Free disk space', bytes(history.value('strand_data_disk_free_bytes'))],
    ['Feed position', count(history.value('strand_feed_position'))],
    ['Webhooks pending', count(history.value('strand_webhooks_pending'))],
    ['Event WebSockets', count(history.value('strand_event_sockets', 'sum'))],
    ['Requests in flight', count(history.value('strand_http_requests_in_flight', 'sum'))],
    ['Memory', bytes(history.value('process_resident_memory_bytes', 'sum'))],
    ...(workers === undefined ? [] : [['Workers', count(workers)] as [string, string]]),
    ['Uptime', started === undefined ? '–' : duration(Date.now() / 1000 - started)],
    ['Version', `${version}, ${runtime}`],
  ]
}

const count = (value: number | undefined): string => value?.toLocaleString('en-US') ?? '–'

function bytes(value: number | undefined): string {
  if (value === undefined) return '–'
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [rest, unit] = [value, 0]
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024
    unit += 1
  }
  return `${rest < 10 && unit > 0 ? rest.toFixed(1) : Math.round(rest)} ${units[unit]}`
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}
