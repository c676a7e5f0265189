import type { Static } from 'typebox'
import { optional, Type } from '../schema.ts'

/** What happens to calls of an operation. */
export const CALL_OUTCOMES = [
  'update_failed',
  'unavailable',
  'rate_limited',
  'slow',
  'internal_error',
  'bad_gateway',
  'token_invalid',
  'broken_json',
  'connection_reset',
  'answer_lost',
  'answer_cut',
  'answer_stalled',
] as const

/** What happens to messages of subscriptions. */
export const MESSAGE_OUTCOMES = ['webhook_twice', 'webhook_bad_signature', 'socket_silent'] as const

export const FAULT_OUTCOMES = [...CALL_OUTCOMES, ...MESSAGE_OUTCOMES] as const

export type CallOutcome = (typeof CALL_OUTCOMES)[number]
export type MessageOutcome = (typeof MESSAGE_OUTCOMES)[number]

/** What each outcome does, as the reference and the console show it. */
export const OUTCOME_MEANINGS: Readonly<Record<CallOutcome | MessageOutcome, string>> = {
  update_failed: 'The call succeeds, and reports an entitlement as `UPDATE_FAILED`.',
  unavailable: 'The answer is 503, and nothing happens.',
  rate_limited: 'The answer is 429, and nothing happens.',
  slow: 'The call is delayed.',
  internal_error: 'The answer is 500, and nothing happens.',
  bad_gateway: 'The answer is 502 with a page of HTML, as a proxy sends it.',
  token_invalid: 'The answer is 401, as if the token had expired.',
  broken_json: 'The answer is cut short, so that it is no JSON.',
  connection_reset: 'The connection ends before anything happens.',
  answer_lost: 'The connection ends when the call has taken effect.',
  answer_cut: 'The connection ends in the middle of the answer.',
  answer_stalled: 'The answer pauses in the middle.',
  webhook_twice: 'A message is sent again, with the same id.',
  webhook_bad_signature: 'A message is signed wrongly, and its retry correctly.',
  socket_silent: 'A WebSocket stays open, and nothing more is sent on it.',
}

const listMeanings = (names: readonly (CallOutcome | MessageOutcome)[]) =>
  names.map(name => `\`${name}\`: ${OUTCOME_MEANINGS[name]}`).join(' ')

/** At most this many are planned at a time. */
export const MAX_FAULTS = 1000

/** A fault, with the same fields in a scenario and in the control API. */
export const Fault = Type.Object(
  {
    ...optional({
      operation: Type.String({
        maxLength: 100,
        description:
          'The name of an operation, such as UpdateDropsEntitlements. Required, except with the outcomes of messages, which have none.',
      }),
    }),
    outcome: Type.Enum(FAULT_OUTCOMES, {
      description: `What happens. ${listMeanings(CALL_OUTCOMES)} Of messages to subscribers: ${listMeanings(MESSAGE_OUTCOMES)}`,
    }),
    ...optional({
      entitlement_id: Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'With `update_failed`: the entitlement whose update fails (default: any); in a scenario its id or its name.',
      }),
      where: Type.Record(
        Type.String(),
        Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
          hint: 'a string, a number, true or false',
        }),
        {
          maxProperties: 10,
          description:
            'Only calls with these parameters or fields of the body; of a list, one entry has to match. Of messages: `type`, `subscription_id`, and for WebSockets `session_id`. In a scenario a value may be the name of an entry, for its id.',
        },
      ),
      milliseconds: Type.Integer({
        minimum: 1,
        maximum: 60_000,
        description: 'With `slow` and `answer_stalled`: the delay (default: 5000).',
      }),
      bytes: Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          'With `answer_cut` and `answer_stalled`: the bytes of the body that are sent before (default: half of them).',
      }),
      retry_after: Type.Integer({
        minimum: 0,
        maximum: 3600,
        description: 'With `unavailable` and `rate_limited`: the seconds of Retry-After (default: 1).',
      }),
      skip: Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Number of calls that succeed before: 2 makes the third fail (default: 0).',
      }),
      times: Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Number of calls that fail (default: 1).',
      }),
      probability: Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The share of calls that fail, until `times` have (default: 1).',
      }),
      seed: Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: 'With `probability`: the same seed chooses the same calls (default: 0).',
      }),
    }),
  },
  { additionalProperties: false },
)
export type Fault = Static<typeof Fault>
