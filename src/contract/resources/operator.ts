import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

/** A named token of the control API; the audit log records its changes under the name. */
export const OperatorToken = resource(
  'OperatorToken',
  'A named token of the control API, without the token.',
  { name: Type.String(), created_at: TimeMillis },
)
export type OperatorToken = Static<typeof OperatorToken>

/** Returned once, when the token is created. */
export const OperatorTokenWithSecret = resource(
  'OperatorTokenWithSecret',
  'A named token of the control API. Returned once, when it is created.',
  { ...OperatorToken.properties, token: Type.String() },
)

export const exampleOperatorToken: OperatorToken = {
  name: 'night-shift',
  created_at: '2026-03-01T12:00:00.250Z',
}
