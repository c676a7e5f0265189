import { updateDropsEntitlements } from '../../contract/helix/update-drops-entitlements.ts'
import { entitlementReach } from '../../domain/access.ts'
import { distinctIds } from '../../domain/entitlement.ts'
import { implement } from '../implement.ts'

export const handleUpdateDropsEntitlements = implement(
  updateDropsEntitlements,
  async ({ body, caller }, { store, clock, demo }) => {
    const reach = entitlementReach(caller)
    const ids = body.entitlement_ids
    const failing = demo?.faults.failing('UpdateDropsEntitlements', [...distinctIds(ids).keys()]) ?? []
    const data = await store.commands.updateEntitlements({
      ids,
      fulfillment_status: body.fulfillment_status,
      reach,
      failing,
      now: clock.now(),
    })
    return { data }
  },
)
