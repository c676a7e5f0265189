import {
  deleteEventSubscription,
  listDeliveries,
  listEventSubscriptions,
  listEvents,
  replayEvents,
  resendDelivery,
} from '../../contract/control/events.ts'
import { refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { asEventDelivery, deliverySortKey, eventSortKey } from '../../store/queries/event-deliveries.ts'
import { asEventSubscription, subscriptionSortKey } from '../../store/queries/event-subscriptions.ts'
import { answerOne, answerPage, implement } from '../implement.ts'
import { toTimestamp } from '../timestamp.ts'

export const handleListEvents = implement(listEvents, async ({ query, window, paginate }, { store }) => {
  const page = await store.eventDeliveries.events(query, window)
  return {
    data: page.rows.map(({ seq: _, body, ...row }) => ({ ...row, event: JSON.parse(body) })),
    pagination: paginate(page, eventSortKey),
  }
})

export const handleListDeliveries = implement(
  listDeliveries,
  async ({ query, window, paginate }, { store }) => {
    const page = await store.eventDeliveries.page(query, window)
    return { data: page.rows.map(asEventDelivery), pagination: paginate(page, deliverySortKey) }
  },
)

export const handleResendDelivery = implement(resendDelivery, async ({ params: { id } }, { store }) =>
  answerOne(await store.commands.resendDelivery({ id })),
)

/** Replays events in steps, so that no command takes long. */
export const handleReplayEvents = implement(replayEvents, async ({ body }, { store }) => {
  const { subscription_id } = body
  if (subscription_id !== undefined && (await store.eventSubscriptions.find(subscription_id)) === undefined)
    return refuse('not_found', 'subscription', subscription_id)
  const since = isoMillis(toTimestamp(body.since))
  let messages = 0
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const step = await store.commands.replayDeliveries({ since, subscription_id, before })
    messages += step.messages
    if (step.last === null) return { data: [{ messages }] }
    before = step.last
  }
})

export const handleListEventSubscriptions = implement(
  listEventSubscriptions,
  async ({ query, window, paginate }, { store }) => {
    const page = await store.eventSubscriptions.all(query, window)
    return answerPage(
      {
        ...page,
        rows: page.rows.map(row => ({ ...asEventSubscription(row), client_id: row.client_id })),
      },
      subscriptionSortKey,
      paginate,
    )
  },
)

export const handleDeleteEventSubscription = implement(
  deleteEventSubscription,
  ({ params: { id } }, { store }) => store.commands.deleteEventSubscription({ id }),
)
