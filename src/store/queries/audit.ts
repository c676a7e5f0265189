/** Lists of the audit log. */
import type { Page, PageRequest } from '../../contract/page.ts'
import type { AuditEntry } from '../../contract/resources/audit.ts'
import type { Database } from '../database.ts'
import { filteredPage, keysetPage, pickFrom } from '../keyset.ts'
import { orderBy } from '../keyset-order.ts'
import { all, limitedTo, type Sql, sql, verbatim } from '../sql/tag.ts'
import { entitlementRows, findGranted, type Granted, ofEntitlement } from './audit-entitlements.ts'
import { asEntries, auditColumns, type StoredRow, storedKey, toAuditEntry } from './audit-rows.ts'
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

const inOrder = orderBy('at', 'chain', 'seq')
/** Rows of a subject that are searched for its creation. */
const BEGINNING_ROWS = 100

export const auditQueries = (db: Database) => ({
  /** Newest first. */
  page: async (filter: AuditFilter, window: PageRequest): Promise<Page<AuditEntry>> => {
    const { since, until, subject, operation, actor } = filter
    const list = {
      select: auditColumns,
      order: inOrder,
      descending: true,
      sortKey: storedKey,
      // Start after all rows that are not before `until`.
      window: until === undefined || window.from !== undefined ? window : { ...window, from: [until, '', 0] },
    }
    const notOlder = since === undefined ? [] : [sql`at >= ${since}`]
    if (subject === undefined) {
      const ranges = await findRanges(db, filter)
      return asEntries(await keysetPage<StoredRow>(db, { ...list, where: notOlder, ranges }))
    }
    const isWanted = (row: StoredRow) =>
      (operation ?? row.operation) === row.operation && (actor ?? row.actor) === row.actor
    const granted = await findGranted(db, subject)
    const where = [sql`place = ${granted?.timestamp ?? ''}`, sql`subject = ${subject}`, ...notOlder]
    if (granted === undefined)
      return asEntries(await filteredPage<StoredRow>(db, { ...list, where, filter: isWanted }))
    const read = (next: PageRequest) => entitlementRows(db, granted, { ...list, where, window: next }, since)
    return asEntries(await pickFrom<StoredRow>(read, { ...list, filter: isWanted }))
  },

  /** How an entitlement was granted, if that was recorded separately. */
  grantOf: async (granted: Granted): Promise<AuditEntry | undefined> => {
    // It is the first row, unless the clock was set back.
    const rows = await db.all<StoredRow>(
      sql`${auditColumns} where ${all(ofEntitlement(granted))} order by at${limitedTo(BEGINNING_ROWS)}`,
    )
    const row = rows.find(each => each.before === 'null')
    return row && toAuditEntry(row)
  },

  /** The changes of an entitlement since its grant, oldest first. */
  changesOf: async (granted: Granted, window: PageRequest): Promise<Page<AuditEntry>> => {
    const list = { select: auditColumns, where: ofEntitlement(granted), order: inOrder, sortKey: storedKey }
    const read = (next: PageRequest) => entitlementRows(db, granted, { ...list, window: next })
    const isWanted = (row: StoredRow) => row.before !== 'null'
    return asEntries(await pickFrom<StoredRow>(read, { ...list, window, filter: isWanted }))
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
async function findRanges(db: Database, { actor, operation }: AuditFilter): Promise<readonly Sql[]> {
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
