/**
 * What import and export know about a type of line. Lines are written in one of two ways, each a plain interface: `RowLines`
 * become rows of a table, many with one statement; `CommandLines` go through the commands that operators use, which publish,
 * record and refuse. `line-types.ts` lists all types.
 */
import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { StoredStreamKey } from '../commands/users.ts'
import type { Database, Transaction } from '../database.ts'
import type { SealedStreamKey } from '../queries/stream-keys.ts'

/** The sealed stream keys of a user, in place of the plain key in the line. */
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

/** The sealed extra stream key, in place of the plain key in the line. */
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

/** The rows of a type of line, as an import finds them and an export reads them. */
export interface StoredRows<T extends TransferType> {
  readonly type: T
  readonly table: string
  /** The fields that refer to another type, with that type. */
  readonly references: readonly (readonly [field: string, kind: TransferType])[]
  /** What identifies the row of a line. */
  lineKey(line: object): string
  /** The existing rows for lines, by key. Locked in key order if this transaction changes them. */
  find(
    db: Database,
    lines: readonly object[],
    options?: { readonly forUpdate?: boolean },
  ): Promise<Map<string, StoredLine<T>>>
  /** All rows, in batches. */
  all(db: Database, atOnce: number): AsyncGenerator<readonly StoredLine<T>[]>
}

/**
 * Finds out why lines cannot be applied: it reads what all of them need, and returns what decides about one. In the
 * transaction of an import there are no earlier lines.
 */
export type Check<T extends TransferType = TransferType> = (
  db: Database,
  lines: readonly TransferLine<T>[],
  earlier: EarlierLines | undefined,
) => Promise<(line: TransferLine<T>, row: StoredLine<T> | undefined, key: string) => string | undefined>

/** The members that `RowLines` and `CommandLines` share. */
interface Lines<T extends TransferType> extends StoredRows<T> {
  /** Applied in this order. The first check that returns a reason decides. */
  readonly checks: readonly Check<T>[]
  /** The ids, logins and channels that the line claims: no later line of the file may claim them. */
  claims(line: TransferLine<T>): readonly Claim[]
  /** Whether the row already matches the line. */
  isCurrent(row: StoredLine<T>, line: ImportLine<T>): boolean
}

/** Lines that are written as rows. */
export interface RowLines<T extends TransferType = TransferType> extends Lines<T> {
  readonly writes: 'rows'
  /** Writes lines. No two of them are about the same row. */
  put(tx: Transaction, changes: readonly Change<T>[], now: number): Promise<void>
}

/** Lines that are written by commands. */
export interface CommandLines<T extends TransferType = TransferType> extends Lines<T> {
  readonly writes: 'commands'
  /** The values of a line in the form in which the command stores them. */
  asStored(line: ImportLine<T>, row: StoredLine<T> | undefined): ImportLine<T>
  /** Writes lines, each of another row. Returns a result for each: a refusal means that the row has changed since the check. */
  put(tx: Transaction, changes: readonly Change<T>[], now: number): Promise<readonly unknown[]>
}

export type LineType = RowLines | CommandLines

/** Writes lines one after the other. */
export const oneByOne =
  <T extends TransferType>(
    put: (tx: Transaction, change: Change<T>, now: number) => Promise<unknown>,
  ): CommandLines<T>['put'] =>
  async (tx, changes, now) => {
    const results: unknown[] = []
    for (const change of changes) results.push(await put(tx, change, now))
    return results
  }

export const asGiven = <Line>(line: Line): Line => line

/** The claim of a line to its id. */
export const idClaim = (type: TransferType, id: string): Claim => ({
  what: [type, id],
  why: () => `the ${type} "${id}" is in this file already`,
})

/** Refuses a line whose row has other values in fields that never change. */
export const fixedFields =
  <T extends TransferType>(fields: readonly (keyof TransferLine<T> & string)[], why: string): Check<T> =>
  async () =>
  (line, row, key) => {
    const isOther = row !== undefined && fields.some(field => row[field] !== line[field])
    return isOther ? `the ${line.type} "${key}" ${why}` : undefined
  }

/** Whether a row has every value given by a line. */
export function hasValues(row: object, line: object): boolean {
  return Object.entries(row).every(([field, stored]) => {
    const given = (line as Record<string, unknown>)[field]
    if (given === undefined || given === stored) return true
    return Array.isArray(given) && JSON.stringify(given) === JSON.stringify(stored)
  })
}
