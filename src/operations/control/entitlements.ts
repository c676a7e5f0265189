import { grantEntitlements, listEntitlements } from '../../contract/control/entitlements.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { uuid } from '../../kit/id.ts'
import { entitlementKey } from '../../store/queries/entitlements.ts'
import { implement } from '../implement.ts'
import { momentOf } from '../moment.ts'

export const handleGrantEntitlements = implement(grantEntitlements, async ({ body }, { store, clock }) => {
  const now = clock.now()
  const result = await store.commands.grantEntitlements({
    grants: body.grants.map(grant => ({
      id: grant.id?.toLowerCase() ?? uuid(),
      user_id: grant.user_id,
      benefit_id: grant.benefit_id.toLowerCase(),
      game_id: grant.game_id,
      timestamp: isoMillis(grant.timestamp === undefined ? now : momentOf(grant.timestamp)),
      timestampGiven: grant.timestamp !== undefined,
    })),
  })
  switch (result.outcome) {
    case 'done':
      return { data: result.entitlements }
    case 'unknown_reference':
      return raise('unknown_reference', result.kind, result.id)
    case 'conflict':
      return raise('entitlement_conflict', result.id)
    case 'other_organization':
      return raise(
        'refused_reference',
        `The game "${result.game_id}" is not managed by the organization of the benefit "${result.benefit_id}".`,
      )
  }
})

export const handleListEntitlements = implement(
  listEntitlements,
  async ({ query, window, paginate }, { store }) => {
    const page = await store.entitlements.page(
      {
        organization_id: query.organization_id?.toLowerCase(),
        user_id: query.user_id,
        game_id: query.game_id,
        benefit_id: query.benefit_id?.toLowerCase(),
        fulfillment_status: query.fulfillment_status,
        ids: query.id?.map(id => id.toLowerCase()),
      },
      window,
    )
    return { data: [...page.rows], pagination: paginate(page, entitlementKey) }
  },
)
