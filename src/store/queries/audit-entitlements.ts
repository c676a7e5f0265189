/**
 * The history of an entitlement. Rows about it alone carry its time and id. One row about several entitlements, whose
 * status was changed by one call, is found through `audit_entitlements`.
 */
import type { Page } from '../../contract/page.ts'
import type { Entitlement } from '../../contract/resources/entitlement.ts'
import { isUuid } from '../../kit/uuid.ts'
import type { Database } from '../database.ts'
import { keysetPage, type List } from '../keyset.ts'
import { compareKeys } from '../keyset-order.ts'
import { all, isOneOfUuids, limitedTo, type Sql, sql, uuidValue, verbatim } from '../sql/tag.ts'
import { rowsAt, type StoredRow, storedKey } from './audit-rows.ts'
import { readTime } from './entitlement-rows.ts'
import { entitlementSubject } from './entitlements.ts'

export type Granted = Pick<Entitlement, 'id' | 'timestamp'>

/** Rows about one entitlement have the time of the grant as their place; all others have none. */
export const ofEntitlement = (granted: Granted): Sql[] => {
  const { place, subject } = entitlementSubject(granted)
  return [sql`place = ${place}`, sql`subject = ${subject}`]
}

/** The entitlement that a subject names, if it exists. */
export async function findGranted(db: Database, subject: string): Promise<Granted | undefined> {
  const [kind, id = ''] = subject.split('/')
  if (kind !== 'entitlement' || !isUuid(id)) return undefined
  const row = await db.get<{ timestamp: number | string }>(
    sql`select timestamp from organization_entitlements where ${isOneOfUuids(sql`id`, [id])}`,
  )
  return row && { id, timestamp: readTime(row.timestamp) }
}

/** Rows about one entitlement at the same time, in different chains: few, because its times move forward. */
const MAX_TIES = 8

/** The rows about an entitlement. `list` reads rows about this one alone; rows about several at once are added to them. */
export async function entitlementRows(
  db: Database,
  granted: Granted,
  list: List<StoredRow>,
  since?: string,
): Promise<Page<StoredRow>> {
  const { first, from } = list.window
  const [descending, sign] = list.descending === true ? [true, -1] : [false, 1]
  const own = await keysetPage(db, list)
  const bounds = [
    sql`timestamp = ${Date.parse(granted.timestamp)}`,
    sql`id = ${uuidValue(granted.id)}`,
    ...(from === undefined ? [] : [boundedBy(String(from[0]), descending)]),
    ...(since === undefined ? [] : [sql`at >= ${Date.parse(since)}`]),
  ]
  const order = verbatim(descending ? ' order by at desc' : ' order by at')
  const changes = await db.all<{ chain: string; seq: number | string }>(
    sql`select (select h.chain from audit_heads h where h.number = changed.chain) as chain, seq
        from (select chain, seq from audit_entitlements where ${all(bounds)}${order}${limitedTo(first + 1 + MAX_TIES)}) as changed`,
  )
  const shared = await rowsAt(db, changes)
  const rows = [
    ...own.rows,
    ...shared.filter(row => from === undefined || sign * compareKeys(storedKey(row), from) > 0),
  ].sort((a, b) => sign * compareKeys(storedKey(a), storedKey(b)))
  return { rows: rows.slice(0, first), more: own.more || rows.length > first }
}

const boundedBy = (at: string, descending: boolean): Sql =>
  descending ? sql`at <= ${Date.parse(at)}` : sql`at >= ${Date.parse(at)}`

/** The ids of entitlements whose status a row changed together. */
export function changedTogether({ subject, after }: Pick<StoredRow, 'subject' | 'after'>): readonly string[] {
  if (subject !== 'entitlements') return []
  const { ids = [] } = JSON.parse(after) as { readonly ids?: readonly string[] }
  return ids
}

/** `changed`: the keys of entitlements. Found first, because PostgreSQL would search the list for each row of a join. */
export const changedEntitlements = (ids: readonly string[]): Sql =>
  sql`changed as materialized (
        select timestamp, id from organization_entitlements where ${isOneOfUuids(sql`id`, ids)})`
