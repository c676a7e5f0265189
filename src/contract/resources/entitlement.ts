import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { ReturnedUuid, TimeMillis } from './id.ts'

export const FULFILLMENT_STATUSES = ['CLAIMED', 'FULFILLED'] as const
export const FulfillmentStatus = Type.Enum(FULFILLMENT_STATUSES, {
  title: 'FulfillmentStatus',
  description: 'Whether the benefit has been given to the user.',
})
export type FulfillmentStatus = Static<typeof FulfillmentStatus>

/** `updated_at` has the same value as `last_updated` (D-25). */
export const Entitlement = resource('Entitlement', 'A benefit that a user has earned in a game.', {
  id: ReturnedUuid,
  benefit_id: ReturnedUuid,
  timestamp: TimeMillis,
  user_id: Type.String(),
  game_id: Type.String(),
  fulfillment_status: FulfillmentStatus,
  last_updated: TimeMillis,
  updated_at: TimeMillis,
})
export type Entitlement = Static<typeof Entitlement>

/** One step in the history of an entitlement. */
export const EntitlementTransition = resource(
  'EntitlementTransition',
  'One step in the history of an entitlement.',
  {
    at: TimeMillis,
    from: orNull(FulfillmentStatus, 'Null for the grant.'),
    to: FulfillmentStatus,
    actor: orNull(Type.String(), 'As in the audit log; null for a grant that was part of a batch.'),
  },
)
export type EntitlementTransition = Static<typeof EntitlementTransition>

/** In the order of the groups in the answer (D-27). */
export const UPDATE_STATUSES = [
  'SUCCESS',
  'INVALID_ID',
  'NOT_FOUND',
  'UNAUTHORIZED',
  'UPDATE_FAILED',
] as const
export type UpdateStatus = (typeof UPDATE_STATUSES)[number]

export const EntitlementUpdate = resource(
  'EntitlementUpdate',
  'The ids that an update had the same outcome for.',
  {
    status: Type.Enum(UPDATE_STATUSES),
    ids: Type.Array(Type.String(), { minItems: 1 }),
  },
)
export type EntitlementUpdate = Static<typeof EntitlementUpdate>

export const exampleEntitlement: Entitlement = {
  id: 'fb78259e-fb81-4d1b-8333-34a06ffc24c0',
  benefit_id: '74c52265-e214-48a6-91b9-23b6014e8041',
  timestamp: '2026-03-01T12:00:00.250Z',
  user_id: '25009227',
  game_id: '33214',
  fulfillment_status: 'CLAIMED',
  last_updated: '2026-03-01T12:00:00.250Z',
  updated_at: '2026-03-01T12:00:00.250Z',
}
