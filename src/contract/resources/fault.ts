import type { Static } from 'typebox'
import { optional, Type } from '../schema.ts'

export const FAULT_OUTCOMES = [
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
] as const

export type FaultOutcome = (typeof FAULT_OUTCOMES)[number]

/** At most this many are planned at a time. */
export const MAX_FAULTS = 1000

/** A fault, with the same fields in a scenario and in the control API. */
export const Fault = Type.Object(
  {
    operation: Type.String({
      maxLength: 100,
      description: 'The name of an operation, such as UpdateDropsEntitlements.',
    }),
    outcome: Type.Enum(FAULT_OUTCOMES, {
      description:
        'What happens: `unavailable` is 503, `rate_limited` 429, `internal_error` 500, `bad_gateway` 502 with a page of HTML, `token_invalid` 401. `slow` delays the call. `connection_reset` ends the connection before anything happens; `answer_lost` does so when the call has taken effect; `broken_json` cuts the answer short. `update_failed` is the status of an entitlement.',
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
            'Only calls with these parameters or fields of the body; of a list, one entry has to match. In a scenario a value may be the name of an entry, for its id.',
        },
      ),
      milliseconds: Type.Integer({
        minimum: 1,
        maximum: 60_000,
        description: 'With `slow`: the delay (default: 5000).',
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
