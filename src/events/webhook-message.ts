import { createHmac } from 'node:crypto'
import { findEventType } from '../contract/events/event-types.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { ClaimedDelivery } from '../store/commands/claim-deliveries.ts'
import { asEventSubscription } from '../store/queries/event-subscriptions.ts'

/** The body of a message; several deliveries of a batched type share one. */
export function webhookBody(
  deliveries: readonly [ClaimedDelivery, ...ClaimedDelivery[]],
  challenge: string,
): string {
  const [first] = deliveries
  const subscription = JSON.stringify(asEventSubscription({ ...first, id: first.subscription_id }))
  if (first.kind === 'webhook_callback_verification')
    return `{"challenge":${JSON.stringify(challenge)},"subscription":${subscription}}`
  if (first.kind === 'revocation') return `{"subscription":${subscription}}`
  // Events are stored as the JSON that is sent.
  if (findEventType(first.type, first.version)?.isBatched !== true)
    return `{"subscription":${subscription},"event":${first.body}}`
  const events = deliveries.map(each => `{"id":${JSON.stringify(each.event_id)},"data":${each.body}}`)
  return `{"subscription":${subscription},"events":[${events.join(',')}]}`
}

/** The headers of one attempt. The time is that of the attempt: receivers reject messages that are older than 10 minutes. */
export function webhookHeaders(
  { message, kind, attempts, type, version }: ClaimedDelivery,
  { body, secret, now }: { readonly body: string; readonly secret: string; readonly now: number },
): Record<string, string> {
  const timestamp = isoMillis(now)
  return {
    'Content-Type': 'application/json',
    'Twitch-Eventsub-Message-Id': message,
    'Twitch-Eventsub-Message-Retry': String(attempts),
    'Twitch-Eventsub-Message-Type': kind,
    'Twitch-Eventsub-Message-Timestamp': timestamp,
    'Twitch-Eventsub-Message-Signature': signMessage(secret, message + timestamp + body),
    'Twitch-Eventsub-Subscription-Type': type,
    'Twitch-Eventsub-Subscription-Version': version,
  }
}

function signMessage(secret: string, text: string): string {
  return `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
}
