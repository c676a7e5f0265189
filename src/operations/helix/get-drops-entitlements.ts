import { getDropsEntitlements } from '../../contract/helix/get-drops-entitlements.ts'
import { raise } from '../../contract/problem.ts'
import { type EntitlementReach, entitlementReach, isWithinReach } from '../../domain/access.ts'
import { entitlementSortKey, type OwnedEntitlement, pageOfNamed } from '../../store/queries/entitlements.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleGetDropsEntitlements = implement(
  getDropsEntitlements,
  async ({ query, caller, window, paginate }, { store }) => {
    const reach = entitlementReach(caller)
    if (reach.user_id !== undefined && (query.user_id ?? reach.user_id) !== reach.user_id)
      raise('other_user_filter')
    const filter = {
      organization_id: reach.organization_id,
      user_id: reach.user_id ?? query.user_id,
      game_id: query.game_id,
      fulfillment_status: query.fulfillment_status,
    }
    const ids = query.id?.map(id => id.toLowerCase())
    if (query.game_id !== undefined) await requireOwnGame(store, reach, query.game_id)
    const page =
      ids === undefined
        ? await store.entitlements.page(filter, window)
        : pageOfNamed(requireOwn(reach, await store.entitlements.named(ids)), filter, window)
    return { data: [...page.rows], pagination: paginate(page, entitlementSortKey) }
  },
)

async function requireOwnGame(store: Store, reach: EntitlementReach, game_id: string): Promise<void> {
  const game = await store.games.find(game_id)
  if (game?.organization_id !== reach.organization_id) raise('game_forbidden')
}

function requireOwn(reach: EntitlementReach, rows: readonly OwnedEntitlement[]): readonly OwnedEntitlement[] {
  return rows.every(row => isWithinReach(reach, row)) ? rows : raise('entitlement_forbidden')
}
