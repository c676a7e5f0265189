import type { TObject } from 'typebox'
import type { TransportMethod } from '../resources/event-subscription.ts'
import type { Scope } from '../scope.ts'

/** A field of a condition that names what an event is about. */
type SubjectField = 'broadcaster_user_id' | 'organization_id' | 'user_id' | 'client_id'

/** One type of event as a value: the check of subscriptions, the reference and the samples are derived from it. */
export interface EventType {
  readonly type: string
  readonly version: string
  readonly summary: string
  /** Text fields; all of a subscription's condition. */
  readonly condition: TObject
  /** The field by which events find their subscriptions. */
  readonly subject: SubjectField
  readonly transports: readonly TransportMethod[]
  /**
   * Who may subscribe. `anyone`. `organization`: an app token of that organization. `client`: an app token of that client.
   * `editor`: with the scope, the broadcaster or an editor; by WebSocket with a token of that user, by webhook if that user
   * has authorized the client.
   */
  readonly access:
    | { readonly kind: 'anyone' }
    | { readonly kind: 'organization' }
    | { readonly kind: 'client' }
    | {
        readonly kind: 'editor'
        readonly scope: Scope
        /** The field with that user, if the condition names one. */
        readonly as?: 'moderator_user_id'
      }
  /** Several events are sent in one request. */
  readonly isBatched?: true
  readonly event: TObject
  readonly example: Readonly<Record<string, unknown>>
}

export function defineEventType<const E extends EventType>(type: E): E {
  return type
}
