import type { SubscriptionStatus } from '../../contract/resources/event-subscription.ts'

/** Why a WebSocket ends: the close code that its client sees, and what becomes of its subscriptions. */
export const CLOSE_REASONS = {
  internal: { code: 4000, text: 'internal server error', status: 'websocket_internal_error' },
  inbound: {
    code: 4001,
    text: 'client sent inbound traffic',
    status: 'websocket_received_inbound_traffic',
  },
  pingPong: { code: 4002, text: 'client failed ping-pong', status: 'websocket_failed_ping_pong' },
  unused: { code: 4003, text: 'connection unused', status: 'websocket_connection_unused' },
  notMoved: { code: 4004, text: 'reconnect grace time expired', status: 'websocket_disconnected' },
  timeout: { code: 4005, text: 'network timeout', status: 'websocket_network_timeout' },
  badReconnect: { code: 4007, text: 'invalid reconnect', status: 'websocket_disconnected' },
} as const satisfies Record<string, { code: number; text: string; status: SubscriptionStatus }>

export type CloseReason = keyof typeof CLOSE_REASONS

/** What becomes of the subscriptions after a close by the client or the network, by its code. */
export function statusAfter(code: number): SubscriptionStatus {
  // 1006: the connection ended without a close message.
  return code === 1006 ? 'websocket_network_error' : 'websocket_disconnected'
}
