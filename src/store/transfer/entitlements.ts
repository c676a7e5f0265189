import { FULFILLMENT_STATUSES } from '../../contract/resources/entitlement.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { entitlementSubject, ofAllWithStatus } from '../queries/entitlements.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { putRows, type TransferResource } from './resource.ts'

const updatedAt = (line: TransferLine<'entitlement'>) => line.last_updated ?? line.timestamp

const FIXED = ['user_id', 'benefit_id', 'game_id', 'timestamp'] as const

export const entitlement: TransferResource<'entitlement'> = {
  table: 'entitlements',
  select: sql`select id, user_id, benefit_id, game_id, timestamp, fulfillment_status, last_updated,
      case when (select 1 from users u where u.id = entitlements.user_id) is null then 1 end as user_deleted
    from entitlements`,
  // By time of the grant: in this order an import appends to most indexes.
  order: ['timestamp', 'id'],
  ranges: FULFILLMENT_STATUSES.map(ofAllWithStatus),
  fixed: { fields: FIXED, why: 'exists with other content' },
  /** The later state wins, so that an old file does not revert a fulfillment. */
  isCurrent: (row, line) => updatedAt(row) >= updatedAt(line),
  putAll: async (tx, changes) => {
    const benefits = new Set(changes.map(({ line }) => line.benefit_id))
    const rows = await tx.all<{ id: string; organization_id: string }>(
      sql`select id, organization_id from benefits where ${isOneOf(sql`id`, [...benefits])}`,
    )
    const owners = new Map(rows.map(row => [row.id, row.organization_id]))
    const valuesOf = ({ line }: { readonly line: TransferLine<'entitlement'> }) => ({
      id: line.id,
      organization_id: owners.get(line.benefit_id) ?? '',
      benefit_id: line.benefit_id,
      user_id: line.user_id,
      game_id: line.game_id,
      timestamp: line.timestamp,
      fulfillment_status: line.fulfillment_status ?? 'CLAIMED',
      last_updated: updatedAt(line),
    })
    for (const { line, row } of changes) {
      if (row === undefined) continue
      const { fulfillment_status: after } = valuesOf({ line })
      tx.record({ ...entitlementSubject(line), before: row.fulfillment_status, after })
    }
    await putRows(tx, 'entitlements', changes, valuesOf, ['id', 'organization_id', ...FIXED])
  },
}
