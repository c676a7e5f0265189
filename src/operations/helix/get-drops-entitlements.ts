import { getDropsEntitlements } from '../../contract/helix/get-drops-entitlements.ts'
import { raise } from '../../contract/problem.ts'
import { type EntitlementReach, entitlementReach, isWithinReach } from '../../domain/access.ts'
import { entitlementKey } from '../../store/queries/entitlements.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleGetDropsEntitlements = implement(
  getDropsEntitlements,
  async ({ query, caller, window, paginate }, { store }) => {
    const reach = entitlementReach(caller)
    if (reach.user_id !== undefined && (query.user_id ?? reach.user_id) !== reach.user_id)
      raise('other_user_filter')
    const ids = query.id?.map(id => id.toLowerCase())
    await requireOwnGame(store, reach, query.game_id)
    await requireOwnEntitlements(store, reach, ids)

    const page = await store.entitlements.page(
      {
        organization_id: reach.organization_id,
        user_id: reach.user_id ?? query.user_id,
        game_id: query.game_id,
        fulfillment_status: query.fulfillment_status,
        ids,
      },
      window,
    )
    return { data: [...page.rows], pagination: paginate(page, entitlementKey) }
  },
)

async function requireOwnGame(
  store: Store,
  reach: EntitlementReach,
  game_id: string | undefined,
): Promise<void> {
  if (game_id === undefined) return
  const game = await store.games.find(game_id)
  if (game?.organization_id !== reach.organization_id) raise('game_forbidden')
}

async function requireOwnEntitlements(
  store: Store,
  reach: EntitlementReach,
  ids: readonly string[] | undefined,
): Promise<void> {
  if (ids === undefined) return
  const owners = await store.entitlements.owners(ids)
  if (!owners.every(row => isWithinReach(reach, row))) raise('entitlement_forbidden')
}
