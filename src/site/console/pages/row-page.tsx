/** @jsxRuntime automatic @jsxImportSource preact */
/** The page of one row: its fields, what belongs to it, and what can be done with it. */
import { tableAt } from '../../../contract/admin/index.ts'
import { type AdminTable, getInput, type Part } from '../../../contract/admin/resource.ts'
import { methodName } from '../../../contract/operation.ts'
import { withQuery } from '../../format/with-query.ts'
import type { Page } from '../../render/page.ts'
import { unlessRefused } from '../../scripts/refused.ts'
import { Cell, FactList, type Names } from '../cells.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import { toLabel } from '../labels.ts'
import type { OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { References } from '../references.ts'
import { Table } from '../table.tsx'
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
  desk: ConsoleContext,
  api: OperatorApi,
  { resource, row, done }: { resource: AdminTable; row: Row; done: string | undefined },
): Promise<Page> {
  const key = String(row[resource.key])
  const references = new References(api)
  const names = await references.namesIn([row], Object.keys(row))
  const parts = await Promise.all(
    (resource.parts ?? []).map(part => renderPart(part, { desk, api, references, resource, key })),
  )
  return consolePage(desk, {
    title: rowTitle(resource, row),
    section: resource.path,
    trail: [[resource.title, consolePath(resource.path)]],
    done: doneText(resource, done),
    liveSeconds: REFRESH_SECONDS,
    actions: (resource.actions ?? [])
      .filter(({ form }) => !form.hidden)
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
        {parts}
      </>
    ),
  })
}

const Facts = ({ row, names, without }: { row: Row; names: Names; without?: string }) => (
  <FactList
    facts={Object.keys(row)
      .filter(field => field !== without && !isShownBeside(field, row))
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

/** Of no use here: always empty, or a template. */
const HIDDEN: ReadonlySet<string> = new Set(['tag_ids', 'thumbnail_url', 'user_login'])

/** Names are beside the ids that they belong to. */
const isShownBeside = (field: string, row: Row): boolean =>
  (field === 'user_name' && 'user_id' in row) ||
  (field === 'game_name' && 'game_id' in row) ||
  (field === 'updated_at' && 'last_updated' in row) ||
  HIDDEN.has(field)

interface PartContext {
  readonly desk: ConsoleContext
  readonly api: OperatorApi
  readonly references: References
  readonly resource: AdminTable
  readonly key: string
}

async function renderPart(part: Part, context: PartContext) {
  const { api, references, resource, key, desk } = context
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
        </div>
      ) : rows.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Table
          resource={of ?? { ...resource, key: columns[0] ?? '', get: undefined as never, actions: [] }}
          columns={columns}
          rows={rows}
          names={names}
          proof={desk.proof}
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
