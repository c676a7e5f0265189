/** @jsxRuntime automatic @jsxImportSource preact */
/** The table of a resource. */
import type { ComponentChildren } from 'preact'
import type { AdminTable, FormAction } from '../../contract/admin/resource.ts'
import { Form } from '../components/form.tsx'
import { Chevron } from '../components/icon.tsx'
import { withQuery } from '../format/with-query.ts'
import { Cell, FactList, isNumber, type Names } from './cells.tsx'
import { actionFields } from './input-fields.ts'
import { toLabel } from './labels.ts'
import type { Row } from './operator-api.ts'
import { consolePath } from './paths.ts'

interface TableView {
  readonly resource: AdminTable
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly names: Names
  readonly proof: string
  readonly title: string
  /** Where a row that has no page opens: the address of this list. */
  readonly here?: { readonly path: string; readonly query: Readonly<Record<string, string | undefined>> }
  /** The key of the row that is open. */
  readonly open?: string | undefined
  /** A link beside each row that removes it from what the page shows. */
  readonly remove?: (row: Row) => string
}

interface TableFrameProps {
  readonly title: string
  /** Whether the times of the first column are exact as well. */
  readonly hasExactTimes?: boolean
  readonly children: ComponentChildren
}

/** A wide table scrolls in its frame, also with the keyboard. */
export const TableFrame = ({ title, hasExactTimes = false, children }: TableFrameProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable
  <section class="table" aria-label={title} tabIndex={0} {...(hasExactTimes && { 'data-exact': true })}>
    {children}
  </section>
)

/** A column of a table that is no list of rows of the API. */
type Column<T> = readonly [
  title: string,
  cell: (item: T) => ComponentChildren,
  kind?: 'number' | 'wrap' | undefined,
]

interface PlainTableProps<T> {
  readonly columns: readonly Column<T>[]
  readonly items: readonly T[]
  readonly itemKey: (item: T) => string
  readonly className?: string
}

export const PlainTable = <T,>({ columns, items, itemKey, className }: PlainTableProps<T>) => (
  <table {...(className && { class: className })}>
    <thead>
      <tr>
        {columns.map(([title, , kind]) => (
          <th key={title} scope="col" {...(kind === 'number' && { class: 'right' })}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {items.map(item => (
        <tr key={itemKey(item)} data-key={itemKey(item)}>
          {columns.map(([title, cell, kind]) => (
            <td
              key={title}
              data-label={title}
              {...(kind && { class: kind === 'number' ? 'right num' : kind })}
            >
              {cell(item)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

export function Table(view: TableView) {
  const { resource, columns, rows, title, remove } = view
  const actions = remove === undefined ? (resource.actions ?? []).filter(({ form }) => form.inRow) : []
  const hasEnd = actions.length > 0 || remove !== undefined
  return (
    <TableFrame title={title} hasExactTimes={resource.path === 'audit'}>
      <table>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column} scope="col" {...(isNumber(column) && { class: 'right' })}>
                {columnLabel(resource, column)}
              </th>
            ))}
            {hasEnd && (
              <th scope="col">
                <span class="hidden-text">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => {
            const key = String(row[resource.key])
            const isOpen = view.open === key
            return (
              <>
                <tr key={key} data-key={key} {...(isOpen && { class: 'open' })}>
                  {columns.map((column, index) => (
                    <td
                      key={column}
                      data-label={columnLabel(resource, column)}
                      {...(isNumber(column) && { class: 'right num' })}
                    >
                      {index === 0 ? (
                        <RowLink view={view} row={row} column={column} isOpen={isOpen} />
                      ) : (
                        <Cell field={column} row={row} names={view.names} />
                      )}
                    </td>
                  ))}
                  {hasEnd && (
                    <td class="end">
                      {actions.map(action => (
                        <RowAction
                          key={action.form.path}
                          action={action}
                          path={consolePath(resource.path, key, action.form.path)}
                          proof={view.proof}
                        />
                      ))}
                      {remove !== undefined && <a href={remove(row)}>Remove</a>}
                    </td>
                  )}
                </tr>
                {isOpen && (
                  <tr key={`${key} open`} class="opened">
                    <td colSpan={columns.length + (hasEnd ? 1 : 0)}>
                      {resource.path === 'audit' ? (
                        <Changes row={row} />
                      ) : (
                        <AllFields row={row} names={view.names} />
                      )}
                    </td>
                  </tr>
                )}
              </>
            )
          })}
        </tbody>
      </table>
    </TableFrame>
  )
}

const columnLabel = (resource: AdminTable, column: string): string =>
  column === 'user_id' && resource.path === 'streams' ? 'Channel' : toLabel(column)

/** The first column leads to the row: to its page, or to more about it below. */
function RowLink({
  view,
  row,
  column,
  isOpen,
}: {
  view: TableView
  row: Row
  column: string
  isOpen: boolean
}) {
  const { resource, here, names } = view
  const key = String(row[resource.key])
  const text = column === 'user_id' ? names.get(`user_id ${key}`) : undefined
  if (resource.get !== undefined)
    return (
      <a class="row-link" href={consolePath(resource.path, key)}>
        {text ?? <Cell field={column} row={row} names={names} />}
        {text !== undefined && <code class="id beside"> {key}</code>}
      </a>
    )
  if (here === undefined) return <Cell field={column} row={row} names={names} />
  return (
    <a
      class="row-link"
      href={withQuery(here.path, { ...here.query, open: isOpen ? undefined : key })}
      aria-expanded={isOpen}
    >
      <Chevron />
      <Cell field={column} row={row} names={names} />
    </a>
  )
}

/** What needs no answer from the operator is done at once; the rest has a page. */
function RowAction({ action, path, proof }: { action: FormAction; path: string; proof: string }) {
  const { title, removes } = action.form
  if (action.confirm !== undefined || actionFields(action, true).length > 0)
    return (
      <a href={path} {...(removes && { class: 'danger' })}>
        {title}
      </a>
    )
  return (
    <Form action={path} fields={{ proof }}>
      <button type="submit" class="plain">
        {title}
      </button>
    </Form>
  )
}

const AllFields = ({ row, names }: { row: Row; names: Names }) => (
  <FactList
    facts={Object.keys(row).map(field => [
      toLabel(field),
      <Cell key={field} field={field} row={row} names={names} />,
    ])}
  />
)

/** A change of the audit log, field by field. */
function Changes({ row }: { row: Row }) {
  const before = fieldsIn(row.before)
  const after = fieldsIn(row.after)
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name])
  return (
    <>
      <table class="changes">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(name => (
            <tr key={name} {...(isSame(name) ? { class: 'same' } : {})}>
              <th scope="row">{name}</th>
              <td>{stateText(before[name])}</td>
              <td>{stateText(after[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hash">
        <span class="quiet">SHA-256</span> <code>{String(row.hash)}</code>
      </p>
    </>
  )
}

function fieldsIn(state: unknown): Readonly<Record<string, unknown>> {
  if (state === null || state === undefined) return {}
  return typeof state === 'object' ? (state as Record<string, unknown>) : { value: state }
}

function stateText(value: unknown) {
  if (value === undefined || value === null || value === '') return <span class="faint">–</span>
  return <>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</>
}
