import type { FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { addEntitlements } from '../commands/add-entitlements.ts'
import { recordStatuses } from '../commands/entitlements.ts'
import { readStatus, readTime, readUuid, storedStatus } from '../queries/entitlement-rows.ts'
import { byTime, ofEitherStatus } from '../queries/entitlements.ts'
import { asUuid, isOneOf, isOneOfUuids, sql, tableOf } from '../sql/tag.ts'
import { defineResource } from './resource.ts'

type Line = TransferLine<'entitlement'>

const updatedAt = (line: Line) => line.last_updated ?? line.timestamp
export const statusOf = (line: Line): FulfillmentStatus => line.fulfillment_status ?? 'CLAIMED'

export const entitlement = defineResource('entitlement', {
  table: 'organization_entitlements',
  select: sql`select id, user_id,
      (select benefit_id from entitlement_benefits b where b.number = organization_entitlements.benefit) as benefit_id,
      game_id, timestamp, fulfilled as fulfillment_status, last_updated,
      case when (select 1 from users u where u.id = organization_entitlements.user_id) is null then 1 end as user_deleted
    from organization_entitlements`,
  decoders: { id: readUuid, timestamp: readTime, fulfillment_status: readStatus, last_updated: readTime },
  isOneOf: isOneOfUuids,
  // By time of the grant: in this order an import appends to most indexes.
  order: { ...byTime, keyOf: row => [(row as Line).timestamp, (row as Line).id] },
  ranges: ofEitherStatus,
  fixed: { fields: ['user_id', 'benefit_id', 'game_id', 'timestamp'], why: 'exists with other content' },
  /** The later state wins, so that an old file does not revert a fulfillment. */
  isCurrent: (row, line) => updatedAt(row) >= updatedAt(line),
  putAll: async (tx, changes) => {
    const added = changes.flatMap(({ line, row }) => (row === undefined ? [line] : []))
    const benefits = await tx.all<{ id: string; organization_id: string }>(
      sql`select id, organization_id from benefits where ${isOneOf(sql`id`, [...new Set(added.map(line => line.benefit_id))])}`,
    )
    const owners = new Map(benefits.map(row => [row.id, row.organization_id]))
    await addEntitlements(
      tx,
      added.map(line => ({
        ...line,
        organization_id: owners.get(line.benefit_id) ?? '',
        fulfillment_status: statusOf(line),
        last_updated: updatedAt(line),
      })),
    )
    const changed = changes.flatMap(({ line, row }) =>
      row === undefined ? [] : [{ line, before: statusOf(row), after: statusOf(line) }],
    )
    if (changed.length === 0) return
    const rows = changed.map(({ line, after }) => {
      return { id: line.id, fulfilled: storedStatus(after), last_updated: Date.parse(updatedAt(line)) }
    })
    await tx.run(
      sql`update organization_entitlements set fulfilled = cast(given.fulfilled as integer), last_updated = cast(given.last_updated as bigint)
          from ${tableOf(rows, ['id', 'fulfilled', 'last_updated'])} as given where organization_entitlements.id = ${asUuid(sql`given.id`)}`,
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
})
