import { getEventSubSubscriptions } from '../../contract/helix/get-eventsub-subscriptions.ts'
import { refuse } from '../../contract/problem.ts'
import { theTokenCaller } from '../../domain/access.ts'
import { MAX_COST } from '../../domain/events/event-subscription.ts'
import { asEventSubscription, subscriptionSortKey } from '../../store/queries/event-subscriptions.ts'
import { implement } from '../implement.ts'

const FILTERS = ['status', 'type', 'user_id', 'subscription_id'] as const

export const handleGetEventSubSubscriptions = implement(
  getEventSubSubscriptions,
  async ({ query, caller, window, paginate }, { store }) => {
    if (FILTERS.filter(name => query[name] !== undefined).length > 1)
      return refuse('several_filters', ...FILTERS)
    const given = theTokenCaller(caller)
    const owner = { client_id: given.client_id, owner: given.kind === 'user' ? given.user_id : '' }
    const page = await store.eventSubscriptions.page(owner, query, window)
    const totals = await store.eventSubscriptions.totals(owner)
    return {
      data: page.rows.map(asEventSubscription),
      pagination: paginate(page, subscriptionSortKey),
      ...totals,
      max_total_cost: MAX_COST[given.kind === 'user' ? 'websocket' : 'webhook'],
    }
  },
)
