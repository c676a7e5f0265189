import { FULFILLMENT_STATUSES, type FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { addEntitlements } from '../commands/add-entitlements.ts'
import { recordStatuses } from '../commands/entitlements.ts'
import type { Transaction } from '../database.ts'
import { readStatus, readTime, readUuid, storedStatus } from '../queries/entitlement-rows.ts'
import { byTime, ofAllWithStatus } from '../queries/entitlements.ts'
import { asUuid, isOneOf, isOneOfUuids, type Scalar, sql, tableOf } from '../sql/tag.ts'
import type { Change, TransferResource } from './resource.ts'

type Line = TransferLine<'entitlement'>

const updatedAt = (line: Line) => line.last_updated ?? line.timestamp
export const statusOf = (line: Line): FulfillmentStatus => line.fulfillment_status ?? 'CLAIMED'

const FIXED = ['user_id', 'benefit_id', 'game_id', 'timestamp'] as const

export const entitlement: TransferResource<'entitlement'> = {
  table: 'organization_entitlements',
  select: sql`select id, user_id,
      (select benefit_id from entitlement_benefits b where b.number = organization_entitlements.benefit) as benefit_id,
      game_id, timestamp, fulfilled as fulfillment_status, last_updated,
      case when (select 1 from users u where u.id = organization_entitlements.user_id) is null then 1 end as user_deleted
    from organization_entitlements`,
  decoders: {
    id: value => readUuid(value as Uint8Array | string),
    timestamp: value => readTime(value as number | string),
    fulfillment_status: value => readStatus(Number(value)),
    last_updated: value => readTime(value as number | string),
  },
  isOneOf: isOneOfUuids,
  // By time of the grant: in this order an import appends to most indexes.
  order: ['timestamp', 'id'],
  walk: byTime,
  ranges: FULFILLMENT_STATUSES.map(ofAllWithStatus),
  fixed: { fields: FIXED, why: 'exists with other content' },
  /** The later state wins, so that an old file does not revert a fulfillment. */
  isCurrent: (row, line) => updatedAt(row) >= updatedAt(line),
  putAll: async (tx, changes) => {
    await addNew(tx, changes)
    await changeExisting(tx, changes)
  },
}

async function addNew(tx: Transaction, changes: readonly Change<'entitlement'>[]): Promise<void> {
  const lines = changes.flatMap(({ line, row }) => (row === undefined ? [line] : []))
  const benefits = await tx.all<{ id: string; organization_id: string }>(
    sql`select id, organization_id from benefits where ${isOneOf(sql`id`, [...new Set(lines.map(line => line.benefit_id))])}`,
  )
  const owners = new Map(benefits.map(row => [row.id, row.organization_id]))
  await addEntitlements(
    tx,
    lines.map(line => ({
      ...line,
      organization_id: owners.get(line.benefit_id) ?? '',
      fulfillment_status: statusOf(line),
      last_updated: updatedAt(line),
    })),
  )
}

async function changeExisting(tx: Transaction, changes: readonly Change<'entitlement'>[]): Promise<void> {
  const existing = changes.flatMap(({ line, row }) => (row === undefined ? [] : [{ line, row }]))
  if (existing.length === 0) return
  const rows = existing.map(({ line }): Record<string, Scalar> => {
    const { id } = line
    return { id, fulfilled: storedStatus(statusOf(line)), last_updated: Date.parse(updatedAt(line)) }
  })
  await tx.run(
    sql`update organization_entitlements set fulfilled = cast(given.fulfilled as integer), last_updated = cast(given.last_updated as bigint)
        from ${tableOf(rows, ['id', 'fulfilled', 'last_updated'])} as given where organization_entitlements.id = ${asUuid(sql`given.id`)}`,
  )
  for (const before of FULFILLMENT_STATUSES) {
    for (const after of FULFILLMENT_STATUSES) {
      const changed = existing.filter(({ line, row }) => statusOf(row) === before && statusOf(line) === after)
      recordStatuses(
        tx,
        changed.map(({ line }) => line),
        before,
        after,
      )
    }
  }
}
