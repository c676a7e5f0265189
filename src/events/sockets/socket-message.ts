import type { EventSubscription } from '../../contract/resources/event-subscription.ts'
import { uuid } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'

/** The messages on a WebSocket, as text. */

type SessionMessage = 'session_welcome' | 'session_keepalive' | 'session_reconnect'

export interface SessionFacts {
  readonly id: string
  readonly connected_at: string
  readonly keepalive_seconds: number
}

function message(message_type: string, payload: object, about: object = {}, message_id = uuid()): string {
  const metadata = { message_id, message_type, message_timestamp: isoMillis(Date.now()), ...about }
  return JSON.stringify({ metadata, payload })
}

const ofSession = (type: SessionMessage, session: object): string => message(type, { session })

export function welcome({ id, connected_at, keepalive_seconds }: SessionFacts): string {
  return ofSession('session_welcome', {
    id,
    status: 'connected',
    connected_at,
    keepalive_timeout_seconds: keepalive_seconds,
    reconnect_url: null,
    recovery_url: null,
  })
}

export function reconnect({ id, connected_at }: SessionFacts, reconnect_url: string): string {
  return ofSession('session_reconnect', {
    id,
    status: 'reconnecting',
    connected_at,
    keepalive_timeout_seconds: null,
    reconnect_url,
    recovery_url: null,
  })
}

export const keepalive = (): string => message('session_keepalive', {})

export function notification(message_id: string, subscription: EventSubscription, event: unknown): string {
  return message('notification', { subscription, event }, messageType(subscription), message_id)
}

export function revocation(message_id: string, subscription: EventSubscription): string {
  return message('revocation', { subscription }, messageType(subscription), message_id)
}

const messageType = ({ type, version }: EventSubscription) => ({
  subscription_type: type,
  subscription_version: version,
})
