import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { oneOf } from '../page.ts'
import { TimeMillis } from '../resources/id.ts'
import { Type } from '../schema.ts'

export const FAULT_OUTCOMES = ['update_failed', 'unavailable', 'rate_limited', 'slow'] as const

const Fault = Type.Object({
  operation: Type.String({ description: 'The name of an operation, such as UpdateDropsEntitlements.' }),
  entitlement_id: Type.Optional(
    Type.String({ description: 'With update_failed: the entitlement whose write fails.' }),
  ),
  outcome: Type.Enum(FAULT_OUTCOMES),
  milliseconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 60_000, description: 'With slow: how long; 5000 if left out.' }),
  ),
  times: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How often; 1 if left out.' }),
  ),
})

const ClockFace = Type.Object({
  now: TimeMillis,
  running: Type.Boolean({ description: 'Whether it goes on by itself.' }),
})

/** Levers that exist in demo mode only: move the clock, break things on purpose, begin anew. */
export const advanceClock = defineOperation('POST /control/clock', {
  id: 'AdvanceClock',
  summary: 'Moves the clock of the demo forward, stops it where it is, or lets it run.',
  description: 'At least one of the two is given.',
  access: operator,
  body: Type.Object({
    advance_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
    running: Type.Optional(Type.Boolean()),
  }),
  returns: oneOf(ClockFace),
  demoOnly: true,
  problems: ['none_given'],
  example: {
    body: { advance_seconds: 60 },
    answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] },
  },
})

export const readClock = defineOperation('GET /control/clock', {
  id: 'ReadClock',
  summary: 'Tells the time of the demo.',
  access: operator,
  returns: oneOf(ClockFace),
  demoOnly: true,
  problems: [],
  example: { answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] } },
})

export const resetWorld = defineOperation('POST /control/reset', {
  id: 'ResetWorld',
  summary:
    'Makes the world of the demo as it was at the start: the same ids and tokens, clock and planned faults.',
  access: operator,
  demoOnly: true,
  problems: [],
  example: {},
})

export const planFault = defineOperation('POST /control/faults', {
  id: 'PlanFault',
  summary: 'Makes the next calls of an operation fail in a chosen way.',
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
  summary: 'Lists the planned faults in the order in which they strike, with how often each still will.',
  access: operator,
  returns: Type.Object({ data: Type.Array(Fault) }),
  demoOnly: true,
  problems: [],
  example: { answer: { data: [{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }] } },
})

export const clearFaults = defineOperation('DELETE /control/faults', {
  id: 'ClearFaults',
  summary: 'Forgets every planned fault.',
  access: operator,
  demoOnly: true,
  problems: [],
  example: {},
})
