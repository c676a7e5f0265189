import {
  fieldsOf,
  noteOf,
  referencesOf,
  type TransferLine,
  type TransferType,
} from '../../contract/resources/transfer.ts'
import type { StoredStreamKey } from '../commands/users.ts'
import type { Database, Transaction } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import { keysetPage } from '../keyset.ts'
import { inOrderOf, type KeyedOrder } from '../keyset-order.ts'
import type { SealedStreamKey } from '../queries/stream-keys.ts'
import {
  isOneOf,
  lockRows,
  type Scalar,
  type Sql,
  sql,
  type TableRow,
  tableOf,
  verbatim,
} from '../sql/tag.ts'

/** What the store gets instead of the stream key of a user. */
interface UserKeys {
  /** For a new user. */
  readonly first_key: StoredStreamKey
  /** For a user whose stream key differs from the one in the file. */
  readonly next_key?: (GivenKey & { readonly version: number }) | undefined
}

/** The key of a line, with the hashes under which it may be stored already. */
interface GivenKey {
  readonly stored: StoredStreamKey
  readonly lookup_hashes: readonly string[]
}

/** What the store gets instead of an extra stream key. */
interface ExtraKey {
  /** For a new row, if the line has no key. */
  readonly random_key: StoredStreamKey
  readonly given_key?: GivenKey
}

type Of<T extends TransferType, User, Key> = T extends 'user' ? User : T extends 'stream_key' ? Key : unknown

/** A line as the store accepts it, without plaintext secrets. */
export type ImportLine<T extends TransferType = TransferType> = {
  [Each in T]: Omit<TransferLine<Each>, 'password' | 'stream_key'> & Of<Each, UserKeys, ExtraKey>
}[T]

/** A row of the store as a line; users and extra stream keys include the sealed key. */
export type StoredLine<T extends TransferType = TransferType> = TransferLine<T> &
  Of<T, SealedStreamKey & { slot: number }, SealedStreamKey & { lookup_hash: string; created_at: string }>

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
export interface Change<T extends TransferType = TransferType> {
  readonly line: ImportLine<T>
  readonly row: StoredLine<T> | undefined
}

/**
 * What import and export need to know about a type of line: how it finds its row, what conflicts with it, how it is written,
 * and in which order rows are exported.
 */
interface Declaration<T extends TransferType> {
  readonly table: string
  /** Default: the fields of a line, from columns of the same names. */
  readonly select?: Sql
  /** The columns that identify the row of a line. Default: `id`. */
  readonly key?: readonly string[]
  /** The order of an export, by indexed columns that never change. Default: by the key. */
  readonly order?: KeyedOrder
  /** Parts of the table that the index of the order serves, if it does not serve the whole table. */
  readonly ranges?: readonly Sql[]
  /** How rows of these keys are found. Default: by text. */
  readonly isOneOf?: typeof isOneOf
  /** Converts columns that are stored otherwise than the field. */
  readonly decoders?: Readonly<Record<string, (value: never) => unknown>>
  /** Fields that never change, and the reason given for refusing a line with other values. */
  readonly fixed?: { readonly fields: readonly (keyof TransferLine<T> & string)[]; readonly why: string }
  /** Finds conflicts of a line with its row and with other rows. In the transaction of an import there are no earlier lines. */
  conflicts?(
    db: Database,
    lines: readonly TransferLine<T>[],
    earlier: EarlierLines | undefined,
  ): Promise<(line: TransferLine<T>, row: StoredLine<T> | undefined, key: string) => string | undefined>
  /** Default: the key, if it is one column. */
  claims?(line: TransferLine<T>): readonly Claim[]
  /** The values of a line in the form in which the command stores them. Default: as they are. */
  asStored?(line: ImportLine<T>, row: StoredLine<T> | undefined): ImportLine<T>
  /** Whether the row already matches the line. Default: it has every value given by the line. */
  isCurrent?(row: StoredLine<T>, line: ImportLine<T>): boolean
  /** Writes one line with a command. A refusal means that the row has changed since the check. */
  putEach?(tx: Transaction, change: Change<T>, now: number): Promise<unknown>
  /** Beside `putEach`, which then gets no line without a row: creates many rows. */
  createAll?(tx: Transaction, lines: readonly ImportLine<T>[], now: number): Promise<unknown>
  /** Without `putEach`: writes many lines, each of another row. Default: rows with the fields of the lines. */
  putAll?(tx: Transaction, changes: readonly Change<T>[], now: number): Promise<void>
  /** For rows with the fields of the lines: the values of fields that the line of a new row omits. */
  defaults?(
    tx: Transaction,
    lines: readonly ImportLine<T>[],
    now: number,
  ): Promise<(line: ImportLine<T>) => TableRow>
}

/** Converts columns stored differently from the field: booleans as 1 and 0, JSON as text, null for a missing secret. */
const DECODERS: Readonly<Record<string, (value: Scalar) => unknown>> = {
  boolean: value => (value === null ? undefined : value === 1),
  array: value => JSON.parse(String(value)),
  secret: value => value ?? undefined,
}

export type Resource<T extends TransferType = TransferType> = ReturnType<typeof defineResource<T>>

/** Completes a declaration with its defaults and with what the schema of the line adds. */
export function defineResource<T extends TransferType>(type: T, declared: Declaration<T>) {
  const { table, key = ['id'], order = inOrderOf(...key), isOneOf: isOneOfKeys = isOneOf } = declared
  const schemas = Object.entries(fieldsOf(type)).filter(([field]) => field !== 'type')
  const fields = schemas.map(([field]) => field)
  const select = declared.select ?? verbatim(`select ${fields.join(', ')} from ${table}`)
  const columns = verbatim(key.join(', '))
  const [first = '', second] = key
  const isPair = second !== undefined
  const keyOf = (line: object): string => {
    const values = line as TableRow
    return isPair ? `${values[first]} ${values[second]}` : String(values[first])
  }
  const decoders = schemas.flatMap(([field, schema]) => {
    const kind = noteOf(schema, 'secret') === undefined ? (schema as { type?: string }).type : 'secret'
    const decode = declared.decoders?.[field] ?? DECODERS[kind ?? '']
    return decode === undefined ? [] : [[field, decode as (value: Scalar) => Scalar] as const]
  })
  /** Converts rows to lines, in place. */
  const asLines = (rows: readonly Record<string, Scalar>[]): readonly StoredLine<T>[] => {
    for (const row of rows) {
      row.type = type
      for (const [field, decode] of decoders) row[field] = decode(row[field] ?? null)
    }
    return rows as readonly object[] as readonly StoredLine<T>[]
  }
  return {
    claims: (line: TransferLine<T>) => (isPair ? [] : [claimOf(type, keyOf(line))]),
    isCurrent: hasValues as NonNullable<Declaration<T>['isCurrent']>,
    /** Inserts new rows, and updates all but the fixed columns of existing ones, with one statement each. */
    async putAll(tx: Transaction, changes: readonly Change<T>[], now: number): Promise<void> {
      const lines = changes.map(({ line }) => line)
      const defaultsOf = await declared.defaults?.(tx, lines, now)
      const rowOf = ({ line, row }: Change<T>): TableRow => {
        const values: Readonly<Record<string, unknown>> = { ...(row ?? defaultsOf?.(line)), ...line }
        return Object.fromEntries(fields.map(field => [field, (values[field] ?? null) as Scalar]))
      }
      const created = changes.filter(({ row }) => row === undefined).map(rowOf)
      const changed = changes.filter(({ row }) => row !== undefined).map(rowOf)
      await insertRows(tx, `insert into ${table} (${fields.join(', ')})`, created, row =>
        fields.map(field => row[field] ?? null),
      )
      if (changed.length === 0) return
      const fixed: readonly string[] = [...key, ...(declared.fixed?.fields ?? [])]
      // All columns of a table of values are text.
      const cellOf = (field: string) =>
        typeof changed[0]?.[field] === 'number' ? `cast(given.${field} as integer)` : `given.${field}`
      const updates = fields.filter(field => !fixed.includes(field)).map(each => `${each} = ${cellOf(each)}`)
      const isSame = key.map(each => `${table}.${each} = given.${each}`)
      await tx.run(
        sql`update ${verbatim(table)} set ${verbatim(updates.join(', '))}
            from ${tableOf(changed, fields)} as given where ${verbatim(isSame.join(' and '))}`,
      )
    },
    ...declared,
    type,
    keyOf,
    references: referencesOf(type),
    /** Refuses a line whose row has other values in fields that never change. */
    otherContent(line: object, row: object | undefined): string | undefined {
      const { fixed } = declared
      if (row === undefined || fixed === undefined) return undefined
      const isOther = fixed.fields.some(field => (row as TableRow)[field] !== (line as TableRow)[field])
      return isOther ? `the ${type} "${keyOf(line)}" ${fixed.why}` : undefined
    },
    /** The existing rows for lines, by key. Locked in key order if this transaction changes them. */
    async find(db: Database, lines: readonly object[], { forUpdate = false } = {}) {
      const isGiven = isPair
        ? sql`(${columns}) in (select ${columns} from ${tableOf(lines as TableRow[], key)} as given)`
        : isOneOfKeys(columns, lines.map(keyOf))
      const query = sql`${select} where ${isGiven}`
      // Commands lock their rows, and of a pair only the time changes, whatever it was.
      const locks = forUpdate && declared.putEach === undefined && !isPair
      const rows = await db.all<Record<string, Scalar>>(
        locks ? sql`${query} order by ${columns}${lockRows}` : query,
      )
      return new Map(asLines(rows).map(row => [keyOf(row), row]))
    },
    /** All rows, in batches. */
    async *all(db: Database, atOnce: number): AsyncGenerator<readonly StoredLine<T>[]> {
      const { ranges } = declared
      const list = { select, order, ...(ranges && { ranges }) }
      for (let window = { first: atOnce, direction: 'forward' as const }; ; ) {
        const { rows, more } = await keysetPage<Record<string, Scalar>>(db, { ...list, window })
        const lines = asLines(rows)
        const last = lines.at(-1)
        if (last !== undefined) yield lines
        if (last === undefined || !more) return
        window = { ...window, ...{ from: order.keyOf(last) } }
      }
    },
  }
}

export const claimOf = (type: TransferType, id: string): Claim => ({
  what: [type, id],
  why: () => `the ${type} "${id}" is in this file already`,
})

/** Whether a row has every value given by a line. */
export function hasValues(row: object, line: object): boolean {
  return Object.entries(row).every(([field, stored]) => {
    const given = (line as Record<string, unknown>)[field]
    if (given === undefined || given === stored) return true
    return Array.isArray(given) && JSON.stringify(given) === JSON.stringify(stored)
  })
}
