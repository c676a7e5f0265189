import { getDropsEntitlements } from '../../contract/helix/get-drops-entitlements.ts'
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import { type EntitlementReach, isWithinReach, listableEntitlements } from '../../domain/access.ts'
import { preparedEntitlement } from '../../store/queries/entitlement-rows.ts'
import { entitlementSortKey, pageOfNamed, storedSortKey } from '../../store/queries/entitlements.ts'
import type { Store } from '../../store/store.ts'
import { implement, rawJsonPage } from '../implement.ts'

export const handleGetDropsEntitlements = implement(
  getDropsEntitlements,
  async ({ query, caller, window, paginate }, { store }) => {
    const reach = listableEntitlements(caller)
    if (isRefusal(reach)) return reach
    if (reach.user_id !== undefined && (query.user_id ?? reach.user_id) !== reach.user_id)
      return refuse('other_user_filter')
    const filter = {
      organization_id: reach.organization_id,
      user_id: reach.user_id ?? query.user_id,
      game_id: query.game_id,
      fulfillment_status: query.fulfillment_status,
    }
    if (query.game_id !== undefined) {
      const refused = await refuseOtherGame(store, reach, query.game_id)
      if (refused !== undefined) return refused
    }
    if (query.id === undefined) {
      const page = await store.entitlements.stored(filter, window)
      const rows = await store.entitlements.prepare(page.rows)
      return rawJsonPage(rows, paginate(page, storedSortKey))
    }
    const named = await store.entitlements.named(query.id.map(id => id.toLowerCase()))
    if (!named.every(row => isWithinReach(reach, row))) return refuse('entitlement_forbidden')
    const page = pageOfNamed(named, filter, window)
    return rawJsonPage(page.rows.map(preparedEntitlement), paginate(page, entitlementSortKey))
  },
)

async function refuseOtherGame(
  store: Pick<Store, 'games'>,
  { organization_id }: Partial<EntitlementReach>,
  game_id: string,
): Promise<Refusal<'game_forbidden'> | undefined> {
  if (organization_id === undefined) return undefined
  const game = await store.games.find(game_id)
  return game?.organization_id === organization_id ? undefined : refuse('game_forbidden')
}
