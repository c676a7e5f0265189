import type { Key, Page, Window } from '../../contract/page.ts'
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { all, isOneOf, notByIndex, type Sql, sql, verbatim } from '../sql/tag.ts'

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

/** Newest first; both columns never change, so a walk sees every row that it began with exactly once (D-24). */
export const entitlementKey = (row: Entitlement) => [row.timestamp, row.id]

export const entitlementQueries = (db: Database) => ({
  page: (filter: EntitlementFilter, window: Window): Promise<Page<Entitlement>> =>
    filter.ids === undefined
      ? keysetPage<Entitlement>(db, {
          select: entitlementColumns,
          where: conditions(filter),
          order: ['timestamp', 'id'],
          descending: true,
          window,
        })
      : pageOfNamed(db, filter, filter.ids, window),

  /** Whose these entitlements are; ids that do not exist are absent. */
  owners: (ids: readonly string[]) =>
    db.all<{ id: string; organization_id: string; user_id: string }>(
      sql`select id, organization_id, user_id from entitlements where ${isOneOf(sql`id`, ids)}`,
    ),
})

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

/** Entitlements named by id are at most a hundred: found by their key alone, and put in order here. */
async function pageOfNamed(
  db: Database,
  filter: EntitlementFilter,
  ids: readonly string[],
  window: Window,
): Promise<Page<Entitlement>> {
  const where = [sql`${isOneOf(sql`id`, ids)}`]
  for (const name of ['organization_id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status'] as const) {
    const value = filter[name]
    if (value !== undefined) where.push(sql`${notByIndex(name)} = ${value}`)
  }
  const rows = await db.all<Entitlement>(sql`${entitlementColumns} where ${all(where)}`)
  const { from } = window
  const behind = from === undefined ? rows : rows.filter(row => compareKeys(entitlementKey(row), from) > 0)
  behind.sort((a, b) => compareKeys(entitlementKey(a), entitlementKey(b)))
  return { rows: behind.slice(0, window.first), more: behind.length > window.first }
}

/** Newest first: negative if `a` stands before `b`. */
function compareKeys(a: Key, b: Key): number {
  for (const [index, mine] of a.entries()) {
    const other = b[index] ?? ''
    if (mine !== other) return mine > other ? -1 : 1
  }
  return 0
}
