import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { oneOf } from '../page.ts'
import { TimeMillis } from '../resources/id.ts'
import { Type } from '../schema.ts'

export const FAULT_OUTCOMES = ['update_failed', 'unavailable', 'rate_limited', 'slow'] as const

const Fault = Type.Object({
  operation: Type.String({ description: 'The name of an operation, such as UpdateDropsEntitlements.' }),
  entitlement_id: Type.Optional(
    Type.String({ description: 'With `update_failed`: the entitlement whose update fails.' }),
  ),
  outcome: Type.Enum(FAULT_OUTCOMES),
  milliseconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 60_000, description: 'With `slow`: the delay (default: 5000).' }),
  ),
  times: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Number of calls that fail (default: 1).' }),
  ),
})

const ClockState = Type.Object({
  now: TimeMillis,
  running: Type.Boolean({ description: 'Whether the clock advances with real time.' }),
})

/** Controls of the demo: move the clock, plan faults, reset the world. */
export const advanceClock = defineOperation('POST /control/clock', {
  id: 'AdvanceClock',
  summary: 'Advance the clock of the demo, stop it, or let it run.',
  description: 'At least one of the two fields is required.',
  access: operator,
  body: Type.Object({
    advance_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
    running: Type.Optional(Type.Boolean()),
  }),
  returns: oneOf(ClockState),
  demoOnly: true,
  problems: ['none_given'],
  example: {
    body: { advance_seconds: 60 },
    answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] },
  },
})

export const readClock = defineOperation('GET /control/clock', {
  id: 'ReadClock',
  summary: 'Get the time of the demo.',
  access: operator,
  returns: oneOf(ClockState),
  demoOnly: true,
  problems: [],
  example: { answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] } },
})

export const resetWorld = defineOperation('POST /control/reset', {
  id: 'ResetWorld',
  summary: 'Reset the demo to its initial state: the same ids, tokens, clock and planned faults.',
  access: operator,
  demoOnly: true,
  problems: [],
  example: {},
})

export const planFault = defineOperation('POST /control/faults', {
  id: 'PlanFault',
  summary: 'Make the next calls of an operation fail with the chosen outcome.',
  access: operator,
  body: Fault,
  returns: oneOf(Fault),
  demoOnly: true,
  problems: ['refused_reference'],
  example: {
    body: { operation: 'GetStreams', outcome: 'unavailable', times: 1 },
    answer: { data: [{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }] },
  },
})

export const listFaults = defineOperation('GET /control/faults', {
  id: 'ListFaults',
  summary: 'List the planned faults in the order in which they apply, with the remaining number of calls.',
  access: operator,
  returns: Type.Object({ data: Type.Array(Fault) }),
  demoOnly: true,
  problems: [],
  example: { answer: { data: [{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }] } },
})

export const clearFaults = defineOperation('DELETE /control/faults', {
  id: 'ClearFaults',
  summary: 'Remove all planned faults.',
  access: operator,
  demoOnly: true,
  problems: [],
  example: {},
})
