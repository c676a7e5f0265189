/** @jsxRuntime automatic @jsxImportSource preact */
/** A page with the rows of a resource: filters, a table, the next page. */
import type { AdminTable } from '../../../contract/admin/resource.ts'
import { operations } from '../../../contract/index.ts'
import { methodName } from '../../../contract/operation.ts'
import { Form } from '../../components/form.tsx'
import { withQuery } from '../../format/with-query.ts'
import type { Page } from '../../render/page.ts'
import type { Browser } from '../../request/browser.ts'
import { readQuery } from '../../request/fields.ts'
import { isRefused } from '../../scripts/refused.ts'
import { Status, toneClass } from '../cells.tsx'
import { ControlledInput } from '../form.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import { filterFields, type InputField, textIn } from '../input-fields.ts'
import type { Input, OperatorApi, Row, Rows } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { References } from '../references.ts'
import { Table } from '../table.tsx'

const PAGE_SIZE = 50
const REFRESH_SECONDS = 5
const NOTHING: Rows = { data: [] }
/** The audit log names operations that change something. */
const OPERATIONS = operations
  .filter(({ method }) => method !== 'GET')
  .map(({ id, summary }) => [id, summary] as const)

export type Query = Readonly<Record<string, string | undefined>>

export const parseQueryString = ({ search }: Browser): Query => Object.fromEntries(readQuery(search))

export async function listPage(
  context: ConsoleContext,
  api: OperatorApi,
  resource: AdminTable,
  query: Query,
): Promise<Page> {
  const references = new References(api)
  const fields = filterFields(resource.list, resource.filters)
  const given = fields.filter(({ name }) => (query[name] ?? '') !== '')
  const filters: Record<string, string> = {}
  for (const field of given)
    filters[field.name] = await references.findId(field.name, textIn(field, query[field.name] ?? ''))
  const { rows, violation } = await read(api, resource, filterInput(given, filters), query.after)
  const names = await references.namesIn(rows.data, resource.columns)
  const here = { path: consolePath(resource.path), query: { ...filters, after: query.after } }
  const cursor = rows.pagination?.cursor
  return consolePage(context, {
    title: resource.title,
    section: resource.path,
    done: doneText(resource, query.done),
    violation,
    status: violation === undefined ? 200 : 400,
    liveSeconds: REFRESH_SECONDS,
    actions: (
      <>
        {resource.path === 'audit' && <VerifyForm {...context} />}
        {resource.create !== undefined && (
          <a class="button primary" href={consolePath(resource.path, resource.create.form.path)}>
            {resource.create.form.title}
          </a>
        )}
      </>
    ),
    body: (
      <>
        {fields.length > 0 && (
          <form class="filters" method="get" action={here.path}>
            {
              await Promise.all(
                fields.map(async field => (
                  <ControlledInput
                    key={field.name}
                    field={{ ...field, required: false, hint: undefined, kind: filterKind(field) }}
                    value={query[field.name] ?? ''}
                    offers={field.name === 'operation' ? OPERATIONS : await references.offersFor(field.name)}
                    isFilter
                  />
                )),
              )
            }
            <div class="field go">
              <button type="submit">Filter</button>
              {given.length > 0 && <a href={here.path}>Clear</a>}
            </div>
          </form>
        )}
        <div data-live="rows">
          {resource.glance !== undefined && rows.data.length > 0 && (
            <Glance field={resource.glance} rows={rows.data} path={here.path} filters={filters} />
          )}
          {rows.data.length === 0 ? (
            <p class="empty">
              {given.length > 0 || query.after !== undefined ? `No ${resource.one} matches.` : resource.empty}
            </p>
          ) : (
            <Table
              resource={resource}
              columns={resource.columns}
              rows={rows.data}
              names={names}
              proof={context.proof}
              title={resource.title}
              here={here}
              open={query.open}
            />
          )}
          <nav class="pages" aria-label="Pages">
            {rows.data.length > 0 && (
              <span class="quiet num">
                {rows.data.length} {rows.data.length === 1 ? 'row' : 'rows'}
                {cursor === undefined && query.after === undefined ? '' : ' on this page'}
              </span>
            )}
            {query.after !== undefined && (
              <a class="button" href={withQuery(here.path, filters)}>
                First page
              </a>
            )}
            {cursor !== undefined && (
              <a class="button" rel="next" href={withQuery(here.path, { ...filters, after: cursor })}>
                Next page
              </a>
            )}
          </nav>
        </div>
      </>
    ),
  })
}

/** A filter of several values takes one here. */
const filterKind = ({ kind }: InputField): InputField['kind'] =>
  kind === 'choice' || kind === 'time' ? kind : 'text'

const filterInput = (given: readonly InputField[], filters: Query): Input =>
  Object.fromEntries(
    given.map(({ name, kind }) => [name, kind === 'lines' ? [filters[name]] : filters[name]]),
  )

/** A wrong filter or cursor leaves the table empty, with the reason above it. */
async function read(
  api: OperatorApi,
  { list }: AdminTable,
  filters: Input,
  after: string | undefined,
): Promise<{ rows: Rows; violation?: string }> {
  try {
    return { rows: await api.rows(list, { ...filters, first: PAGE_SIZE, ...(after && { after }) }) }
  } catch (error) {
    if (!isRefused(error)) throw error
    return { rows: NOTHING, violation: error.message }
  }
}

/** What was done before this page was opened. Only texts of the program are shown. */
export function doneText({ actions = [], create }: AdminTable, done: string | undefined): string | undefined {
  return [...actions, ...(create ? [create] : [])].find(each => methodName(each.operation) === done)?.form
    .done
}

/** How the rows are spread over the values of a field, such as claimed and fulfilled. */
function Glance(view: { field: string; rows: readonly Row[]; path: string; filters: Query }) {
  const { field, rows, path, filters } = view
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(String(row[field]), (counts.get(String(row[field])) ?? 0) + 1)
  let end = 0
  return (
    <nav class="glance num" aria-label="On this page">
      <svg viewBox={`0 0 ${rows.length} 1`} preserveAspectRatio="none" aria-hidden="true">
        {[...counts].map(([value, count]) => {
          end += count
          return (
            <rect key={value} class={`share ${toneClass(value)}`} x={end - count} width={count} height="1" />
          )
        })}
      </svg>
      {[...counts].map(([value, count]) => (
        <a key={value} href={withQuery(path, { ...filters, [field]: value })}>
          <Status value={value} /> {count} <span class="quiet">of {rows.length}</span>
        </a>
      ))}
    </nav>
  )
}

const VerifyForm = ({ proof }: ConsoleContext) => (
  <Form action={consolePath('audit', 'verify')} fields={{ proof }}>
    <button type="submit">Verify the log</button>
  </Form>
)
