import type { FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import { listReferences, type TransferLine } from '../../contract/resources/transfer.ts'
import { recordStatuses } from '../commands/entitlements.ts'
import { insertEntitlements } from '../commands/insert-entitlements.ts'
import type { KeyedOrder } from '../keyset-order.ts'
import { readStatus, readTime, readUuid, storedStatus } from '../queries/entitlement-rows.ts'
import { byTime, ofEitherStatus } from '../queries/entitlements.ts'
import { asUuid, isOneOf, isOneOfUuids, lockRows, type Scalar, sql, valuesTable } from '../sql/tag.ts'
import { fixedFields, idClaim, type RowLines } from './line-type.ts'
import { lineReader, readAll } from './stored-rows.ts'

type Line = TransferLine<'entitlement'>

const updatedAt = (line: Line) => line.last_updated ?? line.timestamp
export const lineStatus = (line: Line): FulfillmentStatus => line.fulfillment_status ?? 'CLAIMED'

/** Only the status of an entitlement changes. */
export const sameGrant = fixedFields<'entitlement'>(
  ['user_id', 'benefit_id', 'game_id', 'timestamp'],
  'exists with other content',
)

const select = sql`select id, user_id,
    (select benefit_id from entitlement_benefits b where b.number = organization_entitlements.benefit) as benefit_id,
    game_id, timestamp, fulfilled as fulfillment_status, last_updated,
    (select c.id from campaigns c where c.number = organization_entitlements.campaign) as campaign_id,
    case when (select 1 from users u where u.id = organization_entitlements.user_id) is null then 1 end as user_deleted
  from organization_entitlements`

const asLines = lineReader('entitlement', {
  id: readUuid,
  timestamp: readTime,
  fulfillment_status: readStatus,
  last_updated: readTime,
  campaign_id: (value: string | null) => value ?? undefined,
})

// By time of the grant: in this order an import appends to most indexes.
const order: KeyedOrder = { ...byTime, sortKey: row => [(row as Line).timestamp, (row as Line).id] }

const lineKey = (line: object): string => (line as Line).id

/** Compact rows: their ids are no text, and one status after the other is exported. */
export const entitlement: RowLines<'entitlement'> = {
  type: 'entitlement',
  table: 'organization_entitlements',
  references: listReferences('entitlement'),
  lineKey,
  find: async (db, lines, { forUpdate = false } = {}) => {
    const query = sql`${select} where ${isOneOfUuids(sql`id`, lines.map(lineKey))}`
    const rows = await db.all<Record<string, Scalar>>(
      forUpdate ? sql`${query} order by id${lockRows}` : query,
    )
    return new Map(asLines(rows).map(row => [row.id, row]))
  },
  all: (db, atOnce) => readAll(db, { select, order, ranges: ofEitherStatus }, asLines, atOnce),
  writes: 'rows',
  checks: [sameGrant],
  claims: ({ id }) => [idClaim('entitlement', id)],
  /** The later state wins, so that an old file does not revert a fulfillment. */
  isCurrent: (row, line) => updatedAt(row) >= updatedAt(line),
  put: async (tx, changes) => {
    const added = changes.flatMap(({ line, row }) => (row === undefined ? [line] : []))
    const benefits = await tx.all<{ id: string; organization_id: string }>(
      sql`select id, organization_id from benefits where ${isOneOf(sql`id`, [...new Set(added.map(line => line.benefit_id))])}`,
    )
    const owners = new Map(benefits.map(row => [row.id, row.organization_id]))
    const campaigns = await tx.all<{ id: string; number: number }>(
      sql`select id, number from campaigns where ${isOneOf(sql`id`, [...new Set(added.flatMap(line => line.campaign_id ?? []))])}`,
    )
    const numbers = new Map(campaigns.map(row => [row.id, row.number]))
    await insertEntitlements(
      tx,
      added.map(line => ({
        ...line,
        organization_id: owners.get(line.benefit_id) ?? '',
        fulfillment_status: lineStatus(line),
        last_updated: updatedAt(line),
        campaign: numbers.get(line.campaign_id ?? ''),
      })),
    )
    const changed = changes.flatMap(({ line, row }) =>
      row === undefined ? [] : [{ line, before: lineStatus(row), after: lineStatus(line) }],
    )
    if (changed.length === 0) return
    const rows = changed.map(({ line, after }) => {
      return { id: line.id, fulfilled: storedStatus(after), last_updated: Date.parse(updatedAt(line)) }
    })
    await tx.run(
      sql`update organization_entitlements set fulfilled = cast(given.fulfilled as integer), last_updated = cast(given.last_updated as bigint)
          from ${valuesTable(rows, ['id', 'fulfilled', 'last_updated'])} as given where organization_entitlements.id = ${asUuid(sql`given.id`)}`,
    )
    for (const [status, ofStatus] of Map.groupBy(changed, ({ before }) => before))
      for (const [next, some] of Map.groupBy(ofStatus, ({ after }) => after))
        recordStatuses(
          tx,
          some.map(({ line: { id, timestamp } }) => ({
            id,
            stored: { id, timestamp: Date.parse(timestamp) },
          })),
          status,
          next,
        )
  },
}
