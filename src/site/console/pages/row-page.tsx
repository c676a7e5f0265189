/** @jsxRuntime automatic @jsxImportSource preact */
/** The page of one row: its fields, what belongs to it, and what can be done with it. */
import { tableAt } from '../../../contract/admin/index.ts'
import { type AdminTable, getInput, type Part } from '../../../contract/admin/resource.ts'
import { methodName } from '../../../contract/operation.ts'
import { withQuery } from '../../format/with-query.ts'
import type { Page } from '../../render/page.ts'
import { unlessRefused } from '../../scripts/refused.ts'
import { Cell, FactList, isNumber, type Names } from '../cells.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import { toLabel } from '../labels.ts'
import type { OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { References } from '../references.ts'
import { PlainTable, Table, TableFrame } from '../table.tsx'
import { doneText } from './list-page.tsx'

/** Rows of a part; the rest is on the page of its resource. */
const PART_SIZE = 10
const REFRESH_SECONDS = 5

export const rowTitle = (resource: AdminTable, row: Row): string =>
  String(row[resource.name] || row[resource.key])

/** The row with this key; undefined if there is none. */
export async function findRow(api: OperatorApi, resource: AdminTable, key: string): Promise<Row | undefined> {
  return resource.get === undefined ? undefined : api.find(resource.get, { [getInput(resource)]: key })
}

export async function rowPage(
  context: ConsoleContext,
  api: OperatorApi,
  { resource, row, done }: { resource: AdminTable; row: Row; done: string | undefined },
): Promise<Page> {
  const key = String(row[resource.key])
  const references = new References(api)
  const names = await references.namesIn([row], Object.keys(row))
  const lists = await Promise.all(
    listNames(row).map(async field => (
      <div key={field} class="part" data-live={`list-${field}`}>
        <div class="part-heading">
          <h2>{toLabel(field)}</h2>
        </div>
        {await renderList(references, entriesIn(row, field), { title: toLabel(field) })}
      </div>
    )),
  )
  const parts = await Promise.all(
    (resource.parts ?? []).map(part => renderPart(part, { context, api, references, resource, key })),
  )
  return consolePage(context, {
    title: rowTitle(resource, row),
    section: resource.path,
    trail: [[resource.title, consolePath(resource.path)]],
    done: doneText(resource, done),
    liveSeconds: REFRESH_SECONDS,
    actions: (resource.actions ?? [])
      .filter(({ form }) => !form.hidden && (form.offeredFor?.(row) ?? true))
      .map(({ form: { path, title, removes } }) => (
        <a
          key={path}
          class={removes ? 'button danger' : 'button'}
          href={consolePath(resource.path, key, path)}
        >
          {title}
        </a>
      )),
    body: (
      <>
        <section class="panel" data-live="facts" aria-label="Fields">
          <Facts row={row} names={names} />
        </section>
        {lists}
        {parts}
      </>
    ),
  })
}

const Facts = ({ row, names, without }: { row: Row; names: Names; without?: string }) => (
  <FactList
    facts={Object.keys(row)
      .filter(field => field !== without && !isShownBeside(field, row) && !isListOfObjects(row[field]))
      .map(field => [
        toLabel(field),
        field === 'id' ? (
          <code key={field}>{String(row[field])}</code>
        ) : (
          <Cell key={field} field={field} row={row} names={names} />
        ),
      ])}
  />
)

const isListOfObjects = (value: unknown): value is Row[] =>
  Array.isArray(value) && typeof value[0] === 'object'

/** Fields with a list of objects, which is a table below the others. */
const listNames = (row: Row): string[] => Object.keys(row).filter(field => isListOfObjects(row[field]))

const entriesIn = (row: Row, field: string): Row[] => row[field] as Row[]

interface ListOptions {
  readonly title: string
  readonly columns?: readonly string[] | undefined
  /** The fields that are a part of this number. */
  readonly shares?: { readonly whole: number; readonly fields: readonly string[] } | undefined
}

async function renderList(references: References, rows: readonly Row[], options: ListOptions) {
  const { title, columns = Object.keys(rows[0] ?? {}).sort(idLast), shares } = options
  const names = await references.namesIn(rows, columns)
  const first = columns[0] ?? ''
  return (
    <TableFrame title={title}>
      <PlainTable
        columns={columns.map(column => [
          toLabel(column),
          (row: Row) =>
            shares?.fields.includes(column) ? (
              <Share count={Number(row[column])} whole={shares.whole} />
            ) : (
              <Cell field={column} row={row} names={names} />
            ),
          isNumber(column) ? ('number' as const) : undefined,
        ])}
        items={rows}
        itemKey={row => String(row.id ?? row[first])}
      />
    </TableFrame>
  )
}

const idLast = (a: string, b: string): number => Number(a === 'id') - Number(b === 'id')

/** A number as a part of another, with a bar. */
function Share({ count, whole }: { count: number; whole: number }) {
  const percent = whole === 0 ? 0 : Math.round((count / whole) * 100)
  return (
    <span class="share-of num">
      <span>
        {count.toLocaleString('en-US')} <span class="quiet">{percent}%</span>
      </span>
      <svg aria-hidden="true">
        <rect class="all" width="100%" height="100%" rx="3" />
        <rect class="part-of" width={`${Math.min(100, percent)}%`} height="100%" rx="3" />
      </svg>
    </span>
  )
}

/** Of no use here: always empty, or a template. */
const HIDDEN: ReadonlySet<string> = new Set(['tag_ids', 'thumbnail_url', 'user_login'])

/** Names are beside the ids that they belong to. */
const isShownBeside = (field: string, row: Row): boolean =>
  (field === 'user_name' && 'user_id' in row) ||
  (field === 'game_name' && 'game_id' in row) ||
  (field === 'updated_at' && 'last_updated' in row) ||
  HIDDEN.has(field)

interface PartOptions {
  readonly context: ConsoleContext
  readonly api: OperatorApi
  readonly references: References
  readonly resource: AdminTable
  readonly key: string
}

async function renderPart(part: Part, { api, references, resource, key, context }: PartOptions) {
  const isList = part.operation.page !== undefined
  const input = { [part.by]: isListInput(part) ? [key] : key }
  const page = await unlessRefused(undefined, () =>
    api.rows(part.operation, { ...input, ...(isList && { first: PART_SIZE }) }),
  )
  // Such as a channel that is not live.
  if (page === undefined) return null
  const rows = page.data
  const [first] = rows
  if (!isList && first === undefined) return null
  const of = part.of === undefined ? undefined : tableAt(part.of)
  const columns =
    part.columns ?? (of === undefined ? Object.keys(first ?? {}) : withoutColumn(of.columns, part.by))
  const names = await references.namesIn(rows, isList ? columns : Object.keys(first ?? {}))
  return (
    <div class="part" data-live={methodName(part.operation)}>
      <div class="part-heading">
        <h2>{part.title}</h2>
        {of !== undefined && hasFilter(of, part.by) && rows.length === PART_SIZE && (
          <a href={withQuery(consolePath(of.path), { [part.by]: key })}>All</a>
        )}
      </div>
      {!isList && first !== undefined ? (
        <div class="panel">
          <Facts row={first} names={names} without={part.by} />
          {
            await Promise.all(
              listNames(first).map(field =>
                renderList(references, entriesIn(first, field), {
                  title: part.title,
                  columns: part.columns,
                  shares: part.shares && {
                    whole: Number(first[part.shares.of]),
                    fields: part.shares.fields,
                  },
                }),
              ),
            )
          }
        </div>
      ) : rows.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Table
          resource={of ?? { ...resource, key: columns[0] ?? '', get: undefined as never, actions: [] }}
          columns={columns}
          rows={rows}
          names={names}
          proof={context.proof}
          title={part.title}
          {...(part.remove && {
            remove: row =>
              withQuery(consolePath(resource.path, key, part.remove?.action.form.path ?? ''), {
                [part.remove?.by ?? '']: String(row[of?.key ?? 'id']),
              }),
          })}
        />
      )}
    </div>
  )
}

const isListInput = ({ operation, by }: Part): boolean =>
  (operation.query?.properties?.[by] as { type?: string } | undefined)?.type === 'array'

const hasFilter = ({ list }: AdminTable, name: string): boolean =>
  Object.hasOwn(list.query?.properties ?? {}, name)

/** The column that is the same in every row of the part is left out, unless it leads to the row. */
const withoutColumn = (columns: readonly string[], name: string): readonly string[] =>
  columns.filter((column, index) => index === 0 || column !== name)
