import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

/** A named token of the operator's side; what is done with it is recorded under the name. */
export const OperatorToken = Type.Object({ name: Type.String(), created_at: TimeMillis })
export type OperatorToken = Static<typeof OperatorToken>

/** As it is answered once, when it is made. */
export const OperatorTokenWithSecret = Type.Object({ ...OperatorToken.properties, token: Type.String() })

export const exampleOperatorToken: OperatorToken = {
  name: 'night-shift',
  created_at: '2026-03-01T12:00:00.250Z',
}
