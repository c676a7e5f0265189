import type { EventType } from '../contract/events/event-type.ts'
import { exampleCondition } from '../contract/events/notification.ts'
import type { MessageKind } from '../domain/events/delivery-outcome.ts'
import { uuid } from '../kit/id.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { ClaimedDelivery } from '../store/commands/claim-deliveries.ts'

/** A message as a subscriber would get it, about the example of a type. */
export function sampleMessage(
  type: EventType,
  callback: string,
  {
    kind = 'notification',
    subject,
  }: { readonly kind?: MessageKind; readonly subject?: string | undefined } = {},
): ClaimedDelivery {
  const fields = { ...type.example, ...(subject !== undefined && { [type.subject]: subject }) }
  const id = uuid()
  return {
    id,
    message: id,
    kind,
    target: '',
    lane: null,
    attempts: 0,
    subscription_id: uuid(),
    client_id: '',
    type: type.type,
    version: type.version,
    condition: JSON.stringify(exampleCondition(type, fields)),
    status: STATUS_OF[kind],
    cost: 1,
    method: 'webhook',
    callback,
    session_id: null,
    connected_at: null,
    created_at: isoMillis(Date.now()),
    key_id: null,
    sealed: null,
    event_id: uuid(),
    body: JSON.stringify(fields),
  }
}

const STATUS_OF = {
  notification: 'enabled',
  webhook_callback_verification: 'webhook_callback_verification_pending',
  revocation: 'authorization_revoked',
} as const satisfies Record<MessageKind, string>
