import { createEventSubSubscription } from '../../contract/helix/create-eventsub-subscription.ts'
import { isRefusal } from '../../contract/problem.ts'
import { theTokenCaller } from '../../domain/access.ts'
import {
  deliveryLane,
  deliveryTarget,
  eventTopic,
  MAX_COST,
  readSubscription,
  subscriptionIdentity,
} from '../../domain/events/event-subscription.ts'
import { uuid } from '../../kit/id.ts'
import { asEventSubscription } from '../../store/queries/event-subscriptions.ts'
import { implement } from '../implement.ts'

export const handleCreateEventSubSubscription = implement(
  createEventSubSubscription,
  async ({ body, caller }, { store, clock, eventSecrets, eventCallbacks }) => {
    const given = theTokenCaller(caller)
    const wanted = readSubscription(body, given, eventCallbacks)
    if (isRefusal(wanted)) return wanted
    const { type, condition, subject, transport } = wanted
    const { client_id } = given
    const [owner, scopes] = given.kind === 'user' ? [given.user_id, given.scopes] : ['', []]
    const id = uuid()
    const sealed = transport.method === 'webhook' ? eventSecrets.seal(id, transport.secret) : undefined
    const created = await store.commands.createEventSubscription({
      subscription: {
        id,
        client_id,
        owner,
        scopes,
        type: type.type,
        version: type.version,
        condition,
        topic: eventTopic(type, subject),
        method: transport.method,
        callback: transport.method === 'webhook' ? transport.callback : null,
        session_id: transport.method === 'websocket' ? transport.session_id : null,
        target: deliveryTarget(transport),
        lane: deliveryLane(client_id, wanted),
        identity: subscriptionIdentity(client_id, owner, wanted),
        key_id: sealed?.key_id ?? null,
        sealed: sealed?.sealed ?? null,
      },
      now: clock.now(),
    })
    if (isRefusal(created)) return created
    return {
      data: [asEventSubscription(created.subscription)],
      ...created.totals,
      max_total_cost: MAX_COST[transport.method],
    }
  },
)
