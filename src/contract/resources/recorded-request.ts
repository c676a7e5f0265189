import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { FAULT_OUTCOMES } from './fault.ts'
import { TimeMillis } from './id.ts'

const OrNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** A request that a demo has answered. Secrets are masked. */
export const RecordedRequest = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Counts up from 1.' }),
  at: TimeMillis,
  operation: OrNull(Type.String(), 'The operation; null for a path that has none.'),
  method: Type.String(),
  path: Type.String(),
  query: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'The values of each parameter, in the order in which they were sent.',
  }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'By name in lower case.' }),
  body: Type.Unknown({
    description: 'The body as JSON; a string if it is something else or was cut; null without a body.',
  }),
  client_id: OrNull(Type.String(), 'The client of the token.'),
  user_id: OrNull(Type.String(), 'The user of the token.'),
  status: OrNull(Type.Integer(), 'The status of the answer; null if the connection was reset instead.'),
  answer: Type.Unknown({ description: 'Like `body`. With the fault `answer_lost`, what was not sent.' }),
  fault: OrNull(Type.Enum(FAULT_OUTCOMES), 'The injected fault.'),
})
export type RecordedRequest = Static<typeof RecordedRequest>
