import { fieldsOf, type TransferLine, type TransferType } from '../../contract/resources/transfer.ts'
import type { StoredStreamKey } from '../commands/users.ts'
import type { Database, Transaction } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import type { Order } from '../keyset.ts'
import type { SealedStreamKey } from '../queries/stream-keys.ts'
import { type isOneOf, type Scalar, type Sql, sql, tableOf, verbatim } from '../sql/tag.ts'

/** A user line as the store accepts it, without plaintext secrets. */
type PreparedUser = Omit<TransferLine<'user'>, 'password' | 'stream_key'> & {
  /** For a new user. */
  readonly first_key: StoredStreamKey
  /** For a user whose stream key differs from the one in the file. */
  readonly next_key?: { readonly version: number; readonly stored: StoredStreamKey } | undefined
}

/** An extra stream key as the store accepts it. */
type PreparedKey = Omit<TransferLine<'stream_key'>, 'stream_key'> & {
  /** For a new row, or one with another key. */
  readonly stored: StoredStreamKey
  /** The hashes under which the key of the line may be stored; absent if the line has none. */
  readonly lookup_hashes?: readonly string[] | undefined
}

/** A line prepared for the store. */
export type ImportLine<T extends TransferType = TransferType> = T extends 'user'
  ? PreparedUser
  : T extends 'stream_key'
    ? PreparedKey
    : TransferLine<T>

type SealedExtraKey = SealedStreamKey & Pick<StoredStreamKey, 'lookup_hash'> & { readonly created_at: string }
type SealedKey = SealedStreamKey & { readonly slot: number }

/** A row of the store as a line; users and extra stream keys include the sealed key. */
export type StoredLine<T extends TransferType = TransferType> = TransferLine<T> &
  (T extends 'user' ? SealedKey : T extends 'stream_key' ? SealedExtraKey : unknown)

/** What earlier lines have claimed: ids, logins, channels. */
export interface EarlierLines {
  has(...claim: readonly string[]): boolean
  add(...claim: readonly string[]): boolean
}

/** A value that no later line of the file may claim, and the reason given if one does. */
export interface Claim {
  readonly what: readonly string[]
  why(): string
}

/** A line that creates a row, or changes its existing one. */
export interface Change<T extends TransferType> {
  readonly line: ImportLine<T>
  readonly row: StoredLine<T> | undefined
}

/**
 * What import and export need to know about a type of line: how it finds its row, what conflicts with it, how it is written,
 * and in which order rows are exported.
 */
export interface TransferResource<T extends TransferType> {
  readonly table: string
  /** Default: the fields of a line, from columns of the same names. */
  readonly select?: Sql
  /** The columns that identify the row of a line. Default: `id`. */
  readonly key?: readonly string[]
  /** The order of an export: indexed columns that never change. Default: the key. */
  readonly order?: readonly string[]
  /** How rows are walked in that order. Default: by the columns. */
  readonly walk?: Order
  /** How rows of these keys are found. Default: by text. */
  readonly isOneOf?: typeof isOneOf
  /** Converts columns that are stored otherwise than the field. */
  readonly decoders?: Readonly<Record<string, (value: unknown) => unknown>>
  /** Parts of the table that the index of the order serves, if it does not serve the whole table. */
  readonly ranges?: readonly Sql[]
  /** Fields that never change, and the reason given for refusing a line with other values. */
  readonly fixed?: { readonly fields: readonly (keyof TransferLine<T> & string)[]; readonly why: string }
  /** Finds conflicts with other rows. */
  conflicts?(
    db: Database,
    lines: readonly TransferLine<T>[],
    earlier: EarlierLines | undefined,
  ): Promise<(line: TransferLine<T>) => string | undefined>
  /** Default: the key, if it is one column. */
  claims?(line: TransferLine<T>): readonly Claim[]
  /** Whether the row already matches the line. Default: it has every value given by the line. */
  isCurrent?(row: StoredLine<T>, line: ImportLine<T>): boolean
  /** Writes one line with a command. A refusal means that the row has changed since the check. */
  putEach?(tx: Transaction, change: Change<T>, now: number): Promise<unknown>
  /** Without `putEach`: writes many lines at once. Default: rows with the fields of the lines. */
  putAll?(tx: Transaction, changes: readonly Change<T>[], now: number): Promise<void>
  /** For rows with the fields of the lines: the values of omitted fields. */
  readonly defaults?: Readonly<Record<string, Scalar>>
}

export const claimOf = (type: TransferType, id: string): Claim => ({
  what: [type, id],
  why: () => `the ${type} "${id}" is in this file already`,
})

/** Whether a row has every value given by a line. */
export function hasValues(type: TransferType, row: object, line: object): boolean {
  return Object.keys(fieldsOf(type)).every(field => {
    const given = (line as Record<string, unknown>)[field]
    const stored = (row as Record<string, unknown>)[field]
    if (given === undefined || given === stored) return true
    return Array.isArray(given) && JSON.stringify(given) === JSON.stringify(stored)
  })
}

/** Inserts new rows, and updates all but the `fixed` columns of existing ones, with one statement each. */
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
  await insertRows(tx, `insert into ${table} (${columns.join(', ')})`, created, row =>
    columns.map(column => row[column] ?? null),
  )
  // All columns of a table of values are text.
  const cellOf = (column: string) =>
    typeof sample[column] === 'number' ? `cast(given.${column} as integer)` : `given.${column}`
  const updates = columns.flatMap(each => (fixed.includes(each) ? [] : [`${each} = ${cellOf(each)}`]))
  if (changed.length > 0)
    await tx.run(
      sql`update ${verbatim(table)} set ${verbatim(updates.join(', '))}
          from ${tableOf(changed, columns)} as given where ${verbatim(table)}.id = given.id`,
    )
}

/** Splits lines into runs of the same type, which are processed together. */
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
