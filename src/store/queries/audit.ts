/** Lists of the audit log. */
import type { Page, Window } from '../../contract/page.ts'
import type { AuditEntry } from '../../contract/resources/audit.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { keysetPage, pickFrom } from '../keyset.ts'
import { inOrderOf, inOrderWithin } from '../keyset-order.ts'
import { limitedTo, type Sql, sql, verbatim } from '../sql/tag.ts'
import { entitlementOf, entitlementRows, type Granted, ofEntitlement } from './audit-entitlements.ts'
import { asEntries, auditColumns, entryOf, type StoredRow, storedKey } from './audit-rows.ts'
import { type AuditPoint, type AuditVerdict, verifyAudit } from './audit-verification.ts'

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly operation?: string | undefined
  readonly subject?: string | undefined
  /** Inclusive. */
  readonly since?: string | undefined
  /** Exclusive. */
  readonly until?: string | undefined
}

const IN_ORDER = ['at', 'chain', 'seq'] as const
const inOrder = inOrderOf(...IN_ORDER)
/** Rows of a subject that are searched for its creation. */
const BEGINNING_ROWS = 100

export const auditQueries = (db: Database) => ({
  /** Newest first. */
  page: async (filter: AuditFilter, window: Window): Promise<Page<AuditEntry>> => {
    const { since, until, subject, operation, actor } = filter
    const list = {
      select: auditColumns,
      order: inOrder,
      descending: true,
      keyOf: storedKey,
      // Start after all rows that are not before `until`.
      window: until === undefined || window.from !== undefined ? window : { ...window, from: [until, '', 0] },
    }
    if (subject === undefined) {
      const ranges = await rangesOf(db, filter)
      const read = (next: Window) => keysetPage<StoredRow>(db, { ...list, ranges, window: next })
      if (since === undefined) return asEntries(await read(list.window))
      return asEntries(await pickFrom<StoredRow>(notOlder(since, read), { ...list, keeps: () => true }))
    }
    const keeps = (row: StoredRow) =>
      (operation ?? row.operation) === row.operation && (actor ?? row.actor) === row.actor
    const granted = await entitlementOf(db, subject)
    const order = inOrderWithin({ place: granted?.timestamp ?? '', subject }, IN_ORDER)
    const read = (next: Window) => {
      const part = { ...list, order, window: next }
      return granted === undefined ? keysetPage<StoredRow>(db, part) : entitlementRows(db, granted, part)
    }
    return asEntries(await pickFrom<StoredRow>(notOlder(since, read), { ...list, keeps }))
  },

  /** How an entitlement was granted, if that was recorded separately. */
  grantOf: async (granted: Granted): Promise<AuditEntry | undefined> => {
    const { place, subject } = ofEntitlement(granted)
    // It is the first row, unless the clock was set back.
    const rows = await db.all<StoredRow>(
      sql`${auditColumns} where place = ${place} and subject = ${subject} order by at${limitedTo(BEGINNING_ROWS)}`,
    )
    const row = rows.find(each => each.before === 'null')
    return row && entryOf(row)
  },

  /** The changes of an entitlement since its grant, oldest first. */
  changesOf: async (granted: Granted, window: Window): Promise<Page<AuditEntry>> => {
    const order = inOrderWithin(ofEntitlement(granted), IN_ORDER)
    const list = { select: auditColumns, order, keyOf: storedKey }
    const read = (next: Window) => entitlementRows(db, granted, { ...list, window: next })
    const keeps = (row: StoredRow) => row.before !== 'null'
    return asEntries(await pickFrom<StoredRow>(read, { ...list, window, keeps }))
  },

  /** The number of rows according to the heads. */
  size: async (): Promise<number> => {
    const row = await db.get<{ size: number | string }>(
      sql`select coalesce(sum(seq - begins_after_seq), 0) as size from audit_heads`,
    )
    return Number(row?.size ?? 0)
  },

  verify: (
    reached?: (rows: number) => void,
    expected?: readonly AuditPoint[],
    options?: { readonly keepsAll?: boolean },
  ): Promise<AuditVerdict> => verifyAudit(db, reached, expected, options),
})

/**
 * The index ranges that serve a filter: one index has operation and time, the other actor, operation and time. Without an
 * operation there is one range per operation, of which the API has a limited number.
 */
async function rangesOf(db: Database, { actor, operation }: AuditFilter): Promise<readonly Sql[]> {
  if (actor === undefined) {
    const operations = operation === undefined ? await operationsIn(db, 'operation') : [operation]
    return operations.map(each => sql`operation = ${each}`)
  }
  const operations = operation === undefined ? await operationsIn(db, DONE_BY_ACTOR, actor) : [operation]
  return operations.map(each => sql`actor = ${actor} and ${verbatim(DONE_BY_ACTOR)} = ${each}`)
}

/** The operation as the actor index has it. Written this way, the planner does not consider the operation index. */
const DONE_BY_ACTOR = "(operation || '')"

/** Finds the distinct values one by one, skipping the rows in between. */
async function operationsIn(db: Database, column: string, actor?: string): Promise<string[]> {
  const operation = verbatim(column)
  const ofActor = actor === undefined ? sql`1 = 1` : sql`actor = ${actor}`
  const rows = await db.all<{ operation: string }>(
    sql`with recursive found (operation) as (
          select min(${operation}) from audit where ${ofActor}
          union all
          select (select min(${operation}) from audit where ${ofActor} and ${operation} > found.operation)
          from found where found.operation is not null)
        select operation from found where operation is not null`,
  )
  return rows.map(row => row.operation)
}

/**
 * Newest first, behind a row that is too old there are only older ones. As a condition of the statement, PostgreSQL would
 * expect so few rows that it reads and sorts all of them rather than merge the indexes of partitions.
 */
function notOlder(since: string | undefined, read: ReadPage): ReadPage {
  if (since === undefined) return read
  return async window => {
    const { rows, more } = await read(window)
    const kept = rows.filter(row => row.at >= since)
    return { rows: kept, more: more && kept.length === rows.length }
  }
}

type ReadPage = (window: Window) => MaybePromise<Page<StoredRow>>
