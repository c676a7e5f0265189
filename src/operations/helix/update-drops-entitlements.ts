import { updateDropsEntitlements } from '../../contract/helix/update-drops-entitlements.ts'
import { isRefusal } from '../../contract/problem.ts'
import { entitlementReach } from '../../domain/access.ts'
import { actorName } from '../../domain/caller.ts'
import { distinctIds } from '../../domain/entitlement.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { implement } from '../implement.ts'

export const handleUpdateDropsEntitlements = implement(
  updateDropsEntitlements,
  async ({ body, caller }, { store, clock, demo }) => {
    const reach = entitlementReach(caller)
    if (isRefusal(reach)) return reach
    const ids = body.entitlement_ids
    const failing = demo?.faults.failing('UpdateDropsEntitlements', [...distinctIds(ids).keys()]) ?? []
    const now = clock.now()
    const author = {
      actor: actorName(caller),
      operation: updateDropsEntitlements.id,
      chain: reach.organization_id,
      at: isoMillis(now),
    }
    const data = await store.as(author).commands.updateEntitlements({
      ids,
      fulfillment_status: body.fulfillment_status,
      reach,
      failing,
      now,
    })
    return { data }
  },
)
