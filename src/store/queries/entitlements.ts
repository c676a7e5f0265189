import type { Page, Window } from '../../contract/page.ts'
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { isOneOf, type Sql, sql } from '../sql/tag.ts'

export interface EntitlementFilter {
  readonly organization_id?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly user_id?: string | undefined
  readonly game_id?: string | undefined
  readonly fulfillment_status?: FulfillmentStatus | undefined
}

/** The columns of an `Entitlement`; `updated_at` is the older name of `last_updated` (D-25). */
export const entitlementColumns = sql`select id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated,
  last_updated as updated_at from entitlements`

/** Newest first; both columns never change, so a walk sees every row that it began with exactly once (D-24). */
export const entitlementKey = (row: Entitlement) => [row.timestamp, row.id]

export const entitlementQueries = (db: Database) => ({
  page: (filter: EntitlementFilter, window: Window): Promise<Page<Entitlement>> =>
    keysetPage<Entitlement>(db, {
      select: entitlementColumns,
      where: conditions(filter),
      order: ['timestamp', 'id'],
      descending: true,
      window,
    }),

  /** Whose these entitlements are; ids that do not exist are absent. */
  owners: (ids: readonly string[]) =>
    db.all<{ id: string; organization_id: string; user_id: string }>(
      sql`select id, organization_id, user_id from entitlements where ${isOneOf(sql`id`, ids)}`,
    ),
})

function conditions(filter: EntitlementFilter): Sql[] {
  const where: Sql[] = []
  if (filter.organization_id !== undefined) where.push(sql`organization_id = ${filter.organization_id}`)
  if (filter.ids !== undefined) where.push(sql`${isOneOf(sql`id`, filter.ids)}`)
  if (filter.user_id !== undefined) where.push(sql`user_id = ${filter.user_id}`)
  if (filter.game_id !== undefined) where.push(sql`game_id = ${filter.game_id}`)
  if (filter.fulfillment_status !== undefined)
    where.push(sql`fulfillment_status = ${filter.fulfillment_status}`)
  return where
}
