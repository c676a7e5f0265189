import { getDropsEntitlements } from '../../contract/helix/get-drops-entitlements.ts'
import { raise } from '../../contract/problem.ts'
import { type EntitlementReach, isWithinReach, listableEntitlements } from '../../domain/access.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import { type OwnedEntitlement, preparedEntitlement } from '../../store/queries/entitlement-rows.ts'
import { entitlementSortKey, pageOfNamed, storedSortKey } from '../../store/queries/entitlements.ts'
import type { Store } from '../../store/store.ts'
import { implement, preparedPage } from '../implement.ts'

export const handleGetDropsEntitlements = implement(
  getDropsEntitlements,
  ({ query, caller, window, paginate }, { store }) => {
    const reach = listableEntitlements(caller)
    if (reach.user_id !== undefined && (query.user_id ?? reach.user_id) !== reach.user_id)
      raise('other_user_filter')
    const filter = {
      organization_id: reach.organization_id,
      user_id: reach.user_id ?? query.user_id,
      game_id: query.game_id,
      fulfillment_status: query.fulfillment_status,
    }
    const ids = query.id?.map(id => id.toLowerCase())
    return chain(requireOwnGame(store, reach, query.game_id), () =>
      ids === undefined
        ? chain(store.entitlements.stored(filter, window), page =>
            chain(store.entitlements.prepare(page.rows), rows =>
              preparedPage(rows, paginate(page, storedSortKey)),
            ),
          )
        : chain(store.entitlements.named(ids), named => {
            const page = pageOfNamed(requireOwn(reach, named), filter, window)
            return preparedPage(page.rows.map(preparedEntitlement), paginate(page, entitlementSortKey))
          }),
    )
  },
)

function requireOwnGame(
  store: Pick<Store, 'games'>,
  reach: Partial<EntitlementReach>,
  game_id: string | undefined,
): MaybePromise<void> {
  if (game_id === undefined || reach.organization_id === undefined) return
  return chain(store.games.find(game_id), game => {
    if (game?.organization_id !== reach.organization_id) raise('game_forbidden')
  })
}

function requireOwn(
  reach: Partial<EntitlementReach>,
  rows: readonly OwnedEntitlement[],
): readonly OwnedEntitlement[] {
  return rows.every(row => isWithinReach(reach, row)) ? rows : raise('entitlement_forbidden')
}
