import type { Page, PageRequest } from '../../contract/page.ts'
import {
  type Entitlement,
  FULFILLMENT_STATUSES,
  type FulfillmentStatus,
} from '../../contract/resources/entitlement.ts'
import { isUuid } from '../../kit/uuid.ts'
import type { Database } from '../database.ts'
import { keysetPage, pickFrom, preparedList } from '../keyset.ts'
import { compareKeys, type Order } from '../keyset-order.ts'
import { all, isOneOfUuids, Parameter, type Sql, sql, statement, uuidValue, verbatim } from '../sql/tag.ts'
import {
  benefitNumber,
  EntitlementReader,
  type EntitlementRow,
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
  all: falling => ({ order: falling ? down : up }),
  after: ([timestamp, id], falling) => {
    const place = sql`${timestamp ?? null}, ${uuidValue(id instanceof Parameter ? id : String(id))}`
    return falling
      ? [{ where: sql`(timestamp, id) < (${place})`, order: down }]
      : [{ where: sql`(timestamp, id) > (${place})`, order: up }]
  },
  toCursorValues: ([timestamp, id]) => [Date.parse(String(timestamp)), String(id)],
}

const withId = statement(['id'], ({ id }) => sql`${entitlementRows} where id = ${uuidValue(id)}`)

export const entitlementQueries = (db: Database) => {
  const reader = new EntitlementReader(db)
  /** The entitlements with these ids that exist. */
  const named = async (ids: readonly string[]): Promise<OwnedEntitlement[]> => {
    const uuids = ids.filter(isUuid)
    const [id] = uuids
    if (id === undefined) return []
    const query =
      uuids.length === 1 ? withId({ id }) : sql`${entitlementRows} where ${isOneOfUuids(sql`id`, uuids)}`
    return await reader.readOwned(await db.all<EntitlementRow>(query))
  }
  const stored = (filter: EntitlementFilter, window: PageRequest): Promise<Page<EntitlementRow>> =>
    pageOfRows(db, filter, window)
  return {
    named,
    page: async (filter: EntitlementFilter, window: PageRequest): Promise<Page<Entitlement>> => {
      if (filter.ids !== undefined) return pageOfNamed(await named(filter.ids), filter, window)
      const page = await stored(filter, window)
      return { ...page, rows: await reader.read(page.rows) }
    },
    /** A page as it is stored. */
    stored,
    /** Stored rows as JSON text, for answers that contain them unchanged. */
    prepare: (rows: readonly EntitlementRow[]) => reader.prepare(rows),
  }
}

async function pageOfRows(
  db: Database,
  filter: EntitlementFilter,
  window: PageRequest,
): Promise<Page<EntitlementRow>> {
  const { organization_id, user_id, game_id, benefit_id } = filter
  const fulfilled = statusNumber(filter)
  if (user_id !== undefined) return pageOfUser(db, { ...filter, user_id }, window)
  if (benefit_id === undefined && (game_id === undefined || organization_id !== undefined))
    return ofOrganization(db, { organization_id, game_id, fulfilled }, window)
  const ranges = await rangesFor(db, filter)
  return keysetPage(db, { ...newestFirst, select: entitlementRows, ranges, window })
}

const newestFirst = { order: byTime, descending: true, sortKey: storedSortKey }

const statusNumber = ({ fulfillment_status: status }: EntitlementFilter): number | undefined =>
  status === undefined ? undefined : storedStatus(status)

/**
 * Indexes have user and organization, or user, game and organization, and then the status, time and id. Only operators leave
 * out the organization: then there are ranges for each one that occurs. Only they name a benefit, too: it is picked from the
 * entitlements of its organization.
 */
async function pageOfUser(
  db: Database,
  filter: EntitlementFilter & { readonly user_id: string },
  window: PageRequest,
): Promise<Page<EntitlementRow>> {
  const { organization_id, user_id, game_id, benefit_id } = filter
  const values = { user_id, game_id, fulfilled: statusNumber(filter) }
  if (benefit_id !== undefined) {
    const benefit = await grantedBenefit(db, benefit_id)
    if (benefit === undefined || (organization_id ?? benefit.organization_id) !== benefit.organization_id)
      return NO_ROWS
    return pickFrom(next => ofUser(db, { ...values, owner: benefit.owner }, next), {
      window,
      sortKey: storedSortKey,
      filter: row => row.benefit === benefit.number,
    })
  }
  if (organization_id !== undefined) {
    const organization = await db.get<{ owner: number }>(numberedOrganization({ organization_id }))
    return organization === undefined ? NO_ROWS : ofUser(db, { ...values, ...organization }, window)
  }
  const prefix = [sql`user_id = ${user_id}`, ...(game_id === undefined ? [] : [sql`game_id = ${game_id}`])]
  const owners = await valuesBehind(db, all(prefix), '(organization + 0)')
  const ranges = owners.flatMap(owner =>
    withStatus(values.fulfilled, [...prefix, sql`${INDEXED_OWNER} = ${owner}`]),
  )
  return keysetPage(db, { ...newestFirst, select: entitlementRows, ranges, window })
}

const NO_ROWS: Page<never> = { rows: [], more: false }

/** A separate statement: PostgreSQL would otherwise expect too few rows, and read and sort all of them. */
const numberedOrganization = statement(
  ['organization_id'],
  ({ organization_id }) =>
    sql`select number as owner from entitlement_organizations where organization_id = ${organization_id}`,
)

const ofUser = preparedList<
  EntitlementRow,
  { owner: number; user_id: string; game_id: string | undefined; fulfilled: number | undefined }
>(['owner', 'user_id', 'game_id', 'fulfilled'], ({ owner, user_id, game_id, fulfilled }) => ({
  ...newestFirst,
  select: entitlementRows,
  ranges: withStatus(fulfilled, [
    sql`${INDEXED_OWNER} = ${owner}`,
    sql`user_id = ${user_id}`,
    ...(game_id === undefined ? [] : [sql`game_id = ${game_id}`]),
  ]),
}))

/** The number and the organization of a benefit that was granted. */
const grantedBenefit = (db: Database, benefit_id: string) =>
  db.get<{ number: number; organization_id: string; owner: number }>(
    sql`select e.number, b.organization_id, o.number as owner from entitlement_benefits e
          join benefits b on b.id = e.benefit_id
          join entitlement_organizations o on o.organization_id = b.organization_id
        where e.benefit_id = ${benefit_id}`,
  )

/** A filter with the values of columns. */
type StoredFilter = Record<'organization_id' | 'game_id' | 'benefit_id', string | undefined> & {
  fulfilled: number | undefined
}

/**
 * Rows are stored by organization, time and id; indexes have benefit and game, game and organization, organization, or
 * nothing, and then the status, time and id. So a list with one status is one range and a list with both is two, or one of
 * the table.
 */
const ofOrganization = preparedList<EntitlementRow, Omit<StoredFilter, 'benefit_id'>>(
  ['organization_id', 'game_id', 'fulfilled'],
  ({ organization_id, game_id, fulfilled }) => {
    const list = { ...newestFirst, select: entitlementRows }
    if (organization_id === undefined) return { ...list, ranges: withStatus(fulfilled, [], INDEXED_STATUS) }
    const number = organizationNumber(organization_id)
    if (game_id === undefined && fulfilled === undefined)
      return { ...list, ranges: [sql`organization = ${number}`] }
    const ofGame = game_id === undefined ? [] : [sql`game_id = ${game_id}`]
    return { ...list, ranges: withStatus(fulfilled, [sql`${INDEXED_OWNER} = ${number}`, ...ofGame]) }
  },
)

/**
 * The ranges of a benefit, or of a game in all organizations. If the second of a pair in an index is not given, there is a
 * range for each value that occurs.
 */
async function rangesFor(db: Database, filter: EntitlementFilter): Promise<readonly Sql[]> {
  const { organization_id, game_id, benefit_id, fulfillment_status } = filter
  const fulfilled = fulfillment_status && storedStatus(fulfillment_status)
  if (benefit_id !== undefined) {
    const ofBenefit = sql`benefit = ${benefitNumber(benefit_id)}`
    if (!(await ownsBenefit(db, organization_id, benefit_id))) return []
    const games = game_id === undefined ? await valuesBehind(db, ofBenefit, 'game_id') : [game_id]
    return games.flatMap(game => withStatus(fulfilled, [ofBenefit, sql`game_id = ${game}`]))
  }
  const ofGame = sql`game_id = ${game_id ?? ''}`
  const owners = await valuesBehind(db, ofGame, '(organization + 0)')
  return owners.flatMap(owner => withStatus(fulfilled, [ofGame, sql`${INDEXED_OWNER} = ${owner}`]))
}

/** The ranges of a prefix with this status, or with either. */
function withStatus(
  fulfilled: number | Parameter | undefined,
  prefix: readonly Sql[],
  column = verbatim('fulfilled'),
): readonly Sql[] {
  const values = fulfilled === undefined ? EITHER_STATUS : [fulfilled]
  return values.map(value => all([...prefix, sql`${column} = ${value}`]))
}

const EITHER_STATUS = FULFILLMENT_STATUSES.map(status => verbatim(String(storedStatus(status))))

/** The organization as indexes have it. Written this way, the planner does not consider the order of the table. */
const INDEXED_OWNER = verbatim('(organization + 0)')

/** The status for lists without leading columns. Written this way, the planner does not consider this index for others. */
const INDEXED_STATUS = verbatim('(fulfilled + 0)')

/** Ranges of all entitlements. */
export const ofEitherStatus = withStatus(undefined, [], INDEXED_STATUS)

/** An entitlement belongs to the organization of its benefit, which never changes. */
async function ownsBenefit(
  db: Database,
  organization_id: string | undefined,
  benefit_id: string,
): Promise<boolean> {
  if (organization_id === undefined) return true
  const benefit = await db.get<{ organization_id: string }>(
    sql`select organization_id from benefits where id = ${benefit_id}`,
  )
  return benefit?.organization_id === organization_id
}

/** The distinct values of a column after an index prefix, found one by one, skipping the rows in between. */
async function valuesBehind(
  db: Database,
  prefix: Sql,
  column: 'game_id' | '(organization + 0)',
): Promise<readonly (string | number)[]> {
  const name = verbatim(column)
  const rows = await db.all<{ value: string | number }>(
    sql`with recursive found (value) as (
          select min(${name}) from organization_entitlements where ${prefix}
          union all
          select (select min(${name}) from organization_entitlements where ${prefix} and ${name} > found.value)
          from found where found.value is not null)
        select value from found where value is not null`,
  )
  return rows.map(row => row.value)
}

/** At most a hundred entitlements are named by id: found by their index, then filtered and sorted here. */
export function pageOfNamed(
  named: readonly OwnedEntitlement[],
  filter: EntitlementFilter,
  { first, from }: PageRequest,
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
