import { fieldsOf, type TransferLine, type TransferType } from '../../contract/resources/transfer.ts'
import type { StoredStreamKey } from '../commands/users.ts'
import type { Database, Transaction } from '../database.ts'
import { type Scalar, type Sql, sql, tableOf, verbatim } from '../sql/tag.ts'

/** A line of a user as the store takes it: without secrets in plain text. */
type PreparedUser = Omit<TransferLine<'user'>, 'password' | 'stream_key'> & {
  /** For a new user. */
  readonly first_key: StoredStreamKey
  /** For a user whose stream key differs from the one in the file. */
  readonly next_key?: { readonly version: number; readonly stored: StoredStreamKey } | undefined
}

/** A line that is ready for the store. */
export type ImportLine<T extends TransferType = TransferType> = T extends 'user'
  ? PreparedUser
  : TransferLine<T>

type SealedKey = Pick<StoredStreamKey, 'key_id' | 'sealed'> & { readonly version: number }

/** A row of the store as a line; a user has the stream key as it is sealed. */
export type StoredLine<T extends TransferType = TransferType> = TransferLine<T> &
  (T extends 'user' ? SealedKey : unknown)

/** What the lines before have claimed: ids, logins, channels. */
export interface EarlierLines {
  has(...claim: readonly string[]): boolean
  add(...claim: readonly string[]): boolean
}

/** What no later line of a file may claim, and why one that does is refused. */
export interface Claim {
  readonly what: readonly string[]
  readonly why: string
}

/** A line that creates a row, or changes the one that it found. */
export interface Change<T extends TransferType> {
  readonly line: ImportLine<T>
  readonly row: StoredLine<T> | undefined
}

/**
 * Everything that import and export know of a type of lines: how a line finds its row, what contradicts it, how it is put
 * and in which order the rows are exported.
 */
export interface TransferResource<T extends TransferType> {
  readonly table: string
  /** Default: the fields of a line, from columns of the same names. */
  readonly select?: Sql
  /** The columns by which a line finds its row. Default: `id`. */
  readonly key?: readonly string[]
  /** The order of an export: columns that never change and have an index. Default: the key. */
  readonly order?: readonly string[]
  /** Parts of the table that the index of the order serves, where it does not serve the whole. */
  readonly ranges?: readonly Sql[]
  /** Fields that a row keeps, and what to say of a line that has other values. */
  readonly fixed?: { readonly fields: readonly (keyof TransferLine<T> & string)[]; readonly why: string }
  /** Conflicts with other rows. */
  conflicts?(
    db: Database,
    lines: readonly TransferLine<T>[],
    earlier: EarlierLines | undefined,
  ): Promise<(line: TransferLine<T>) => string | undefined>
  /** Default: the key, if it is one column. */
  claims?(line: TransferLine<T>): readonly Claim[]
  /** Whether a line leaves its row as it is. Default: the row has every value that the line gives. */
  isCurrent?(row: StoredLine<T>, line: ImportLine<T>): boolean
  /** Puts one line with a command. A refusal means that the row has changed since the check. */
  putEach?(tx: Transaction, change: Change<T>, now: number): Promise<unknown>
  /** Without `putEach`: puts many lines at once. Default: rows with the fields of the lines. */
  putAll?(tx: Transaction, changes: readonly Change<T>[]): Promise<void>
  /** For rows with the fields of the lines: the values of fields that a line leaves out. */
  readonly defaults?: Readonly<Record<string, Scalar>>
}

export const claimOf = (type: TransferType, id: string): Claim => ({
  what: [type, id],
  why: `the ${type} "${id}" is in this file already`,
})

/** Whether a row has every value that a line gives. */
export function hasValues(type: TransferType, row: object, line: object): boolean {
  return Object.keys(fieldsOf(type)).every(field => {
    const given = (line as Record<string, unknown>)[field]
    const stored = (row as Record<string, unknown>)[field]
    if (given === undefined || given === stored) return true
    return Array.isArray(given) && JSON.stringify(given) === JSON.stringify(stored)
  })
}

/** Inserts rows, and updates all but the `fixed` columns of others, with one statement each. */
export async function putRows<C extends { readonly row: unknown }>(
  tx: Transaction,
  table: string,
  changes: readonly C[],
  valuesOf: (change: C) => Readonly<Record<string, Scalar>>,
  fixed: readonly string[],
): Promise<void> {
  const created = changes.filter(({ row }) => row === undefined).map(valuesOf)
  const changed = changes.filter(({ row }) => row !== undefined).map(valuesOf)
  const sample = created[0] ?? changed[0] ?? {}
  const columns = Object.keys(sample)
  // A table of values is text, whatever was given.
  const cellOf = (column: string) =>
    typeof sample[column] === 'number' ? `cast(given.${column} as integer)` : `given.${column}`
  if (created.length > 0)
    await tx.run(
      sql`insert into ${verbatim(`${table} (${columns.join(', ')})`)}
          select ${verbatim(columns.map(cellOf).join(', '))} from ${tableOf(created, columns)} as given`,
    )
  const updates = columns.flatMap(each => (fixed.includes(each) ? [] : [`${each} = ${cellOf(each)}`]))
  if (changed.length > 0)
    await tx.run(
      sql`update ${verbatim(table)} set ${verbatim(updates.join(', '))}
          from ${tableOf(changed, columns)} as given where ${verbatim(table)}.id = given.id`,
    )
}

/** Splits lines where the type changes: lines of one type that stand together are handled together. */
export function runsOf<L extends { readonly type: TransferType }>(
  lines: readonly L[],
): { type: TransferType; start: number; lines: L[] }[] {
  const runs: { type: TransferType; start: number; lines: L[] }[] = []
  for (const [start, line] of lines.entries()) {
    const last = runs.at(-1)
    if (last?.type === line.type) last.lines.push(line)
    else runs.push({ type: line.type, start, lines: [line] })
  }
  return runs
}
