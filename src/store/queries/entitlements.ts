import type { Page, Window } from '../../contract/page.ts'
import {
  type Entitlement,
  FULFILLMENT_STATUSES,
  type FulfillmentStatus,
} from '../../contract/resources/entitlement.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { compareKeys, inOrderOf, keysetPage, pickedPage } from '../keyset.ts'
import { all, isOneOf, type Sql, sql, verbatim } from '../sql/tag.ts'

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

/** An entitlement and the organization it belongs to. */
export type OwnedEntitlement = Entitlement & { readonly organization_id: string }

/** The subject and place of an entitlement in the audit log: those granted together are mostly fulfilled together. */
export const entitlementSubject = ({ id, timestamp }: Pick<Entitlement, 'id' | 'timestamp'>) => ({
  subject: `entitlement/${id}`,
  place: timestamp,
})

/** Newest first. Neither column changes, so pagination returns every row that existed at its start exactly once (D-24). */
export const entitlementSortKey = (row: Entitlement) => [row.timestamp, row.id]
const byTime = inOrderOf('timestamp', 'id')

const ownedColumns = sql`select id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated,
  last_updated as updated_at, organization_id from entitlements`

export const entitlementQueries = (db: Database) => {
  /** The entitlements with these ids that exist. */
  const named = (ids: readonly string[]) =>
    db.all<OwnedEntitlement>(sql`${ownedColumns} where ${isOneOf(sql`id`, ids)}`)
  return {
    named,
    page: (filter: EntitlementFilter, window: Window): MaybePromise<Page<Entitlement>> => {
      if (filter.ids !== undefined) return chain(named(filter.ids), rows => pageOfNamed(rows, filter, window))
      if (filter.user_id !== undefined) return pageOfUser(db, filter.user_id, filter, window)
      return chain(rangesOf(db, filter), ranges =>
        keysetPage<Entitlement>(db, {
          select: entitlementColumns,
          where: [],
          ranges,
          order: byTime,
          descending: true,
          window,
          keyOf: entitlementSortKey,
        }),
      )
    },
  }
}

/** A user has few entitlements: they are read in order and filtered here. */
function pageOfUser(
  db: Database,
  user_id: string,
  filter: EntitlementFilter,
  window: Window,
): MaybePromise<Page<Entitlement>> {
  const page = pickedPage<OwnedEntitlement>(db, {
    select: ownedColumns,
    where: [sql`user_id = ${user_id}`],
    order: byTime,
    descending: true,
    window,
    keyOf: entitlementSortKey,
    keeps: row => isMatch(row, filter),
  })
  return chain(page, ({ rows, more }) => ({
    rows: rows.map(({ organization_id: _, ...entitlement }) => entitlement),
    more,
  }))
}

/**
 * The index ranges that serve a filter. Each index ends in status, time and id, so a list with one status is one range and a
 * list with both is two. The leading columns are benefit and game, game and organization, organization, or none; if the
 * second of a pair is not given, there is a range for each value that occurs.
 */
function rangesOf(db: Database, filter: EntitlementFilter): MaybePromise<readonly Sql[]> {
  const { organization_id, game_id, benefit_id } = filter
  const statuses =
    filter.fulfillment_status === undefined ? FULFILLMENT_STATUSES : [filter.fulfillment_status]
  const ofEachStatus = (prefixes: readonly (readonly Sql[])[]) =>
    prefixes.flatMap(prefix => statuses.map(status => all([...prefix, sql`fulfillment_status = ${status}`])))
  if (benefit_id !== undefined) {
    const ofBenefit = sql`benefit_id = ${benefit_id}`
    return chain(ownsBenefit(db, organization_id, benefit_id), owns => {
      if (!owns) return []
      const games = game_id === undefined ? valuesBehind(db, ofBenefit, 'game_id') : [game_id]
      return chain(games, found => ofEachStatus(found.map(game => [ofBenefit, sql`game_id = ${game}`])))
    })
  }
  if (game_id !== undefined) {
    const ofGame = sql`game_id = ${game_id}`
    const owners =
      organization_id === undefined ? valuesBehind(db, ofGame, 'organization_id') : [organization_id]
    return chain(owners, found => ofEachStatus(found.map(owner => [ofGame, sql`organization_id = ${owner}`])))
  }
  return organization_id === undefined
    ? statuses.map(ofAllWithStatus)
    : ofEachStatus([[sql`organization_id = ${organization_id}`]])
}

/** All rows with a status. Written this way, the planner does not consider this index for lists with leading columns. */
export const ofAllWithStatus = (status: FulfillmentStatus): Sql => sql`(fulfillment_status || '') = ${status}`

/** An entitlement belongs to the organization of its benefit, which never changes. */
function ownsBenefit(
  db: Database,
  organization_id: string | undefined,
  benefit_id: string,
): MaybePromise<boolean> {
  if (organization_id === undefined) return true
  return chain(
    db.get<{ organization_id: string }>(sql`select organization_id from benefits where id = ${benefit_id}`),
    benefit => benefit?.organization_id === organization_id,
  )
}

/** The distinct values of a column after an index prefix, found one by one, skipping the rows in between. */
function valuesBehind(
  db: Database,
  prefix: Sql,
  column: 'game_id' | 'organization_id',
): MaybePromise<readonly string[]> {
  const name = verbatim(column)
  const rows = db.all<{ value: string }>(
    sql`with recursive found (value) as (
          select min(${name}) from entitlements where ${prefix}
          union all
          select (select min(${name}) from entitlements where ${prefix} and ${name} > found.value)
          from found where found.value is not null)
        select value from found where value is not null`,
  )
  return chain(rows, found => found.map(row => row.value))
}

/** At most a hundred entitlements are named by id: found by primary key, then filtered and sorted here. */
export function pageOfNamed(
  named: readonly OwnedEntitlement[],
  filter: EntitlementFilter,
  { first, from }: Window,
): Page<Entitlement> {
  const rows = named.filter(
    row => isMatch(row, filter) && (from === undefined || compareKeys(entitlementSortKey(row), from) < 0),
  )
  rows.sort((a, b) => compareKeys(entitlementSortKey(b), entitlementSortKey(a)))
  return { rows: rows.slice(0, first), more: rows.length > first }
}

const FILTERED = ['organization_id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status'] as const

function isMatch(row: OwnedEntitlement, filter: EntitlementFilter): boolean {
  return FILTERED.every(name => filter[name] === undefined || filter[name] === row[name])
}
