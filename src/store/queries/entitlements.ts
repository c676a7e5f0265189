import type { Key, Page, Window } from '../../contract/page.ts'
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import { andThen, type Eventual } from '../../kit/eventual.ts'
import type { Database } from '../database.ts'
import { inOrderOf, keysetPage } from '../keyset.ts'
import { isOneOf, notByIndex, type Sql, sql, verbatim } from '../sql/tag.ts'

export interface EntitlementFilter {
  readonly organization_id?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly user_id?: string | undefined
  readonly game_id?: string | undefined
  readonly benefit_id?: string | undefined
  readonly fulfillment_status?: FulfillmentStatus | undefined
}

/** The columns of an `Entitlement`; `updated_at` is the older name of `last_updated` (D-25). */
export const entitlementColumns = sql`select id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated,
  last_updated as updated_at from entitlements`

/** An entitlement and whose it is. */
export type OwnedEntitlement = Entitlement & { readonly organization_id: string }

/** What an entitlement is called in the audit log, and its place there: those granted together are mostly fulfilled together. */
export const entitlementSubject = ({ id, timestamp }: Pick<Entitlement, 'id' | 'timestamp'>) => ({
  subject: `entitlement/${id}`,
  place: timestamp,
})

/** Newest first; both columns never change, so a walk sees every row that it began with exactly once (D-24). */
export const entitlementKey = (row: Entitlement) => [row.timestamp, row.id]
const byTime = inOrderOf('timestamp', 'id')

export const entitlementQueries = (db: Database) => {
  /** Those of these ids that exist. */
  const named = (ids: readonly string[]) =>
    db.all<OwnedEntitlement>(
      sql`select id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated,
            last_updated as updated_at, organization_id
          from entitlements where ${isOneOf(sql`id`, ids)}`,
    )
  return {
    named,
    page: (filter: EntitlementFilter, window: Window): Eventual<Page<Entitlement>> =>
      filter.ids === undefined
        ? keysetPage<Entitlement>(db, {
            select: entitlementColumns,
            where: conditions(filter),
            order: byTime,
            descending: true,
            window,
          })
        : andThen(named(filter.ids), rows => pageOfNamed(rows, filter, window)),
  }
}

/**
 * Which index serves a filter is decided here and not left to statistics that a young store does not have: by user if one is
 * given, for a user has few; else by game and status, game, status, or the organization alone.
 */
function conditions(filter: EntitlementFilter): Sql[] {
  const ofUser = filter.user_id !== undefined
  const column = (name: string) => (ofUser ? notByIndex(name) : verbatim(name))
  const where: Sql[] = []
  if (filter.organization_id !== undefined) where.push(sql`organization_id = ${filter.organization_id}`)
  if (filter.user_id !== undefined) where.push(sql`user_id = ${filter.user_id}`)
  if (filter.game_id !== undefined) where.push(sql`${column('game_id')} = ${filter.game_id}`)
  if (filter.benefit_id !== undefined) where.push(sql`${column('benefit_id')} = ${filter.benefit_id}`)
  if (filter.fulfillment_status !== undefined) {
    where.push(sql`${column('fulfillment_status')} = ${filter.fulfillment_status}`)
  }
  return where
}

/** Entitlements named by id are at most a hundred: found by their key alone, chosen and put in order here. */
export function pageOfNamed(
  named: readonly OwnedEntitlement[],
  filter: EntitlementFilter,
  { first, from }: Window,
): Page<Entitlement> {
  const rows = named.filter(
    row =>
      FILTERED.every(name => filter[name] === undefined || filter[name] === row[name]) &&
      (from === undefined || compareKeys(entitlementKey(row), from) > 0),
  )
  rows.sort((a, b) => compareKeys(entitlementKey(a), entitlementKey(b)))
  return { rows: rows.slice(0, first), more: rows.length > first }
}

const FILTERED = ['organization_id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status'] as const

/** Newest first: negative if `a` stands before `b`. */
function compareKeys(a: Key, b: Key): number {
  for (const [index, mine] of a.entries()) {
    const other = b[index] ?? ''
    if (mine !== other) return mine > other ? -1 : 1
  }
  return 0
}
