import type { Static } from 'typebox'
import { orNull, Type } from '../schema.ts'
import { CALL_OUTCOMES } from './fault.ts'
import { TimeMillis } from './id.ts'

/** A request that a demo has answered. Secrets are masked. */
export const RecordedRequest = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Counts up from 1.' }),
  at: TimeMillis,
  operation: orNull(Type.String(), 'The operation; null for a path that has none.'),
  method: Type.String(),
  path: Type.String(),
  query: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'The values of each parameter, in the order in which they were sent.',
  }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'By name in lower case.' }),
  body: Type.Unknown({
    description: 'The body as JSON; a string if it is something else or was cut; null without a body.',
  }),
  client_id: orNull(Type.String(), 'The client of the token.'),
  user_id: orNull(Type.String(), 'The user of the token.'),
  status: orNull(Type.Integer(), 'The status of the answer; null if the connection was reset instead.'),
  answer: Type.Unknown({ description: 'Like `body`. With the fault `answer_lost`, what was not sent.' }),
  fault: orNull(Type.Enum(CALL_OUTCOMES), 'The injected fault.'),
})
export type RecordedRequest = Static<typeof RecordedRequest>
