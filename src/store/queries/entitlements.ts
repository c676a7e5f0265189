import type { Key, Page, Window } from '../../contract/page.ts'
import {
  type Entitlement,
  FULFILLMENT_STATUSES,
  type FulfillmentStatus,
} from '../../contract/resources/entitlement.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import { isUuid } from '../../kit/uuid.ts'
import type { Database } from '../database.ts'
import { compareKeys, keysetPage, type Order, pickedPage } from '../keyset.ts'
import { all, isOneOfUuids, type Sql, sql, uuidValue, verbatim } from '../sql/tag.ts'
import {
  benefitNumber,
  EntitlementReader,
  type EntitlementRow,
  entitlementColumns,
  entitlementRows,
  type OwnedEntitlement,
  organizationNumber,
  readTime,
  readUuid,
  storedStatus,
} from './entitlement-rows.ts'

export interface EntitlementFilter {
  readonly organization_id?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly user_id?: string | undefined
  readonly game_id?: string | undefined
  readonly benefit_id?: string | undefined
  readonly fulfillment_status?: FulfillmentStatus | undefined
}

/** The subject and place of an entitlement in the audit log: those granted together are mostly fulfilled together. */
export const entitlementSubject = ({ id, timestamp }: Pick<Entitlement, 'id' | 'timestamp'>) => ({
  subject: `entitlement/${id}`,
  place: timestamp,
})

/** Newest first. Neither column changes, so pagination returns every row that existed at its start exactly once (D-24). */
export const entitlementSortKey = (row: Entitlement) => [row.timestamp, row.id]
export const storedSortKey = (row: EntitlementRow) => [readTime(row.timestamp), readUuid(row.id)]

const [up, down] = [verbatim(' order by timestamp, id'), verbatim(' order by timestamp desc, id desc')]

/** By time of the grant, then by id. A key has both as text. */
export const byTime: Order = {
  whole: falling => ({ order: falling ? down : up }),
  beyond: ([timestamp, id], falling) => {
    const place = sql`${Date.parse(String(timestamp))}, ${uuidValue(String(id))}`
    return falling
      ? [{ where: sql`(timestamp, id) < (${place})`, order: down }]
      : [{ where: sql`(timestamp, id) > (${place})`, order: up }]
  },
}

export const entitlementQueries = (db: Database) => {
  const reader = new EntitlementReader(db)
  /** The entitlements with these ids that exist. */
  const named = (ids: readonly string[]): MaybePromise<OwnedEntitlement[]> => {
    const uuids = ids.filter(isUuid)
    if (uuids.length === 0) return []
    const rows = db.all<EntitlementRow>(sql`${entitlementRows} where ${isOneOfUuids(sql`id`, uuids)}`)
    return chain(rows, found => reader.readOwned(found))
  }
  const stored = (filter: EntitlementFilter, window: Window): MaybePromise<Page<EntitlementRow>> =>
    isPlace(window.from) ? pageOfRows(db, filter, window) : { rows: [], more: false }
  return {
    named,
    page: (filter: EntitlementFilter, window: Window): MaybePromise<Page<Entitlement>> => {
      if (filter.ids !== undefined) return chain(named(filter.ids), rows => pageOfNamed(rows, filter, window))
      return chain(stored(filter, window), ({ rows, more }) =>
        chain(reader.read(rows), found => ({ rows: found, more })),
      )
    },
    /** A page as it is stored. */
    stored,
    /** Its rows as JSON, for those who only pass them on. */
    prepare: (rows: readonly EntitlementRow[]) => reader.prepare(rows),
  }
}

/** Whether a key is one of an entitlement. A cursor is authentic, but may come from a list of an earlier version. */
const isPlace = (key: Key | undefined): boolean => key === undefined || isUuid(String(key[1]))

function pageOfRows(
  db: Database,
  filter: EntitlementFilter,
  window: Window,
): MaybePromise<Page<EntitlementRow>> {
  const list = { order: byTime, descending: true, window, keyOf: storedSortKey }
  const { user_id, game_id } = filter
  if (user_id === undefined)
    return chain(rangesOf(db, filter), ranges =>
      keysetPage(db, { ...list, select: entitlementRows, where: [], ranges }),
    )
  // A user has few entitlements: they are read in order, and those that match are picked.
  return pickedPage<EntitlementRow & { readonly kept: number }>(db, {
    ...list,
    select: sql`select ${entitlementColumns}, ${isMatch(filter)} as kept from organization_entitlements`,
    where: [sql`user_id = ${user_id}`, ...(game_id === undefined ? [] : [sql`game_id = ${game_id}`])],
    keeps: row => row.kept === 1,
  })
}

/** 1 if a row of the user matches the rest of the filter. */
function isMatch({ organization_id, benefit_id, fulfillment_status }: EntitlementFilter): Sql {
  const conditions = [
    ...(organization_id === undefined ? [] : [sql`organization = ${organizationNumber(organization_id)}`]),
    ...(benefit_id === undefined ? [] : [sql`benefit = ${benefitNumber(benefit_id)}`]),
    ...(fulfillment_status === undefined ? [] : [sql`fulfilled = ${storedStatus(fulfillment_status)}`]),
  ]
  return conditions.length === 0 ? sql`1` : sql`case when ${all(conditions)} then 1 else 0 end`
}

/**
 * The ranges that serve a filter. Rows are stored by organization, time and id; indexes have benefit and game, game and
 * organization, organization, or nothing, and then the status, time and id. So a list with one status is one range and a
 * list with both is two, or one of the table. If the second of a pair is not given, there is a range for each value that
 * occurs.
 */
function rangesOf(db: Database, filter: EntitlementFilter): MaybePromise<readonly Sql[]> {
  const { organization_id, game_id, benefit_id, fulfillment_status } = filter
  const statuses = fulfillment_status === undefined ? FULFILLMENT_STATUSES : [fulfillment_status]
  const ofEachStatus = (prefixes: readonly (readonly Sql[])[]) =>
    prefixes.flatMap(prefix =>
      statuses.map(status => all([...prefix, sql`fulfilled = ${storedStatus(status)}`])),
    )
  if (benefit_id !== undefined) {
    const ofBenefit = sql`benefit = ${benefitNumber(benefit_id)}`
    return chain(ownsBenefit(db, organization_id, benefit_id), owns => {
      if (!owns) return []
      const games = game_id === undefined ? valuesBehind(db, ofBenefit, 'game_id') : [game_id]
      return chain(games, found => ofEachStatus(found.map(game => [ofBenefit, sql`game_id = ${game}`])))
    })
  }
  if (game_id !== undefined) {
    const ofGame = sql`game_id = ${game_id}`
    if (organization_id !== undefined)
      return ofEachStatus([[sql`${INDEXED_OWNER} = ${organizationNumber(organization_id)}`, ofGame]])
    return chain(valuesBehind(db, ofGame, '(organization + 0)'), found =>
      ofEachStatus(found.map(owner => [ofGame, sql`${INDEXED_OWNER} = ${owner}`])),
    )
  }
  if (organization_id === undefined) return statuses.map(ofAllWithStatus)
  const number = organizationNumber(organization_id)
  return fulfillment_status === undefined
    ? [sql`organization = ${number}`]
    : ofEachStatus([[sql`${INDEXED_OWNER} = ${number}`]])
}

/** The organization as indexes have it. Written this way, the planner does not consider the order of the table. */
const INDEXED_OWNER = verbatim('(organization + 0)')

/** All rows with a status. Written this way, the planner does not consider this index for lists with leading columns. */
export const ofAllWithStatus = (status: FulfillmentStatus): Sql =>
  sql`(fulfilled + 0) = ${storedStatus(status)}`

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
  column: 'game_id' | '(organization + 0)',
): MaybePromise<readonly (string | number)[]> {
  const name = verbatim(column)
  const rows = db.all<{ value: string | number }>(
    sql`with recursive found (value) as (
          select min(${name}) from organization_entitlements where ${prefix}
          union all
          select (select min(${name}) from organization_entitlements where ${prefix} and ${name} > found.value)
          from found where found.value is not null)
        select value from found where value is not null`,
  )
  return chain(rows, found => found.map(row => row.value))
}

/** At most a hundred entitlements are named by id: found by their index, then filtered and sorted here. */
export function pageOfNamed(
  named: readonly OwnedEntitlement[],
  filter: EntitlementFilter,
  { first, from }: Window,
): Page<Entitlement> {
  const rows = named.filter(
    row => hasValues(row, filter) && (from === undefined || compareKeys(entitlementSortKey(row), from) < 0),
  )
  rows.sort((a, b) => compareKeys(entitlementSortKey(b), entitlementSortKey(a)))
  return { rows: rows.slice(0, first), more: rows.length > first }
}

const FILTERED = ['organization_id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status'] as const

function hasValues(row: OwnedEntitlement, filter: EntitlementFilter): boolean {
  return FILTERED.every(name => filter[name] === undefined || filter[name] === row[name])
}
