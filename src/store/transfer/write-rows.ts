import type { TransferType } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import { type Scalar, sql, type TableRow, valuesTable, verbatim } from '../sql/tag.ts'
import type { Change, ImportLine, RowLines } from './line-type.ts'
import { lineFields } from './stored-rows.ts'

/** The values of fields that the line of a new row omits. */
type Defaults<T extends TransferType> = (
  tx: Transaction,
  lines: readonly ImportLine<T>[],
  now: number,
) => Promise<(line: ImportLine<T>) => TableRow>

/**
 * Writes lines to a table whose columns are their fields: inserts new rows, and updates all but the fixed columns of existing
 * ones, with one statement each.
 */
export function writeRows<T extends TransferType>(
  { type, table, key }: { readonly type: T; readonly table: string; readonly key: readonly string[] },
  { fixed = [], defaults }: { readonly fixed?: readonly string[]; readonly defaults?: Defaults<T> } = {},
): RowLines<T>['put'] {
  const fields = lineFields(type).map(([field]) => field)
  const changing = fields.filter(field => !key.includes(field) && !fixed.includes(field))
  const isSame = key.map(each => `${table}.${each} = given.${each}`).join(' and ')
  return async (tx, changes, now) => {
    const defaultsFor = await defaults?.(
      tx,
      changes.map(({ line }) => line),
      now,
    )
    const toRow = ({ line, row }: Change<T>): TableRow => {
      const values: Readonly<Record<string, unknown>> = { ...(row ?? defaultsFor?.(line)), ...line }
      return Object.fromEntries(fields.map(field => [field, (values[field] ?? null) as Scalar]))
    }
    const created = changes.filter(({ row }) => row === undefined).map(toRow)
    const changed = changes.filter(({ row }) => row !== undefined).map(toRow)
    await insertRows(tx, `insert into ${table} (${fields.join(', ')})`, created, row =>
      fields.map(field => row[field] ?? null),
    )
    if (changed.length === 0) return
    // All columns of a table of values are text.
    const toCell = (field: string) =>
      typeof changed[0]?.[field] === 'number' ? `cast(given.${field} as integer)` : `given.${field}`
    const updates = changing.map(each => `${each} = ${toCell(each)}`).join(', ')
    await tx.run(
      sql`update ${verbatim(table)} set ${verbatim(updates)}
          from ${valuesTable(changed, fields)} as given where ${verbatim(isSame)}`,
    )
  }
}
