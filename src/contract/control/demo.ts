import { controlOperation } from '../operation.ts'
import { rowsSchema, singleSchema } from '../page.ts'
import { HEARTBEAT_REASONS } from '../playback/send-heartbeat.ts'
import { Fault } from '../resources/fault.ts'
import { DecimalId, GivenTime, TimeMillis } from '../resources/id.ts'
import { RecordedRequest } from '../resources/recorded-request.ts'
import { orNull, Type } from '../schema.ts'

/** Below the idle timeout of a connection. */
const MAX_WAIT = 10_000

const ClockState = Type.Object({
  now: TimeMillis,
  running: Type.Boolean({ description: 'Whether the clock advances with real time.' }),
})

/** Controls of the demo: move the clock, plan faults, list requests, reset the world. */
export const advanceClock = controlOperation('POST /control/clock', {
  id: 'AdvanceClock',
  summary: 'Advance the clock of the demo, set it to a later time, stop it, or let it run.',
  description:
    'At least one field is required. The clock never moves back: a reset returns to an earlier time. The time that is skipped is played in order before the answer: planned events, the starts and ends of campaigns, heartbeats of simulated viewers. With simulated viewers, at most 31 days with 200,000 heartbeats are skipped at a time.',
  body: Type.Object(
    {
      advance_seconds: Type.Optional(
        Type.Number({ minimum: 0.001, maximum: 315_360_000, description: 'Rounded to milliseconds.' }),
      ),
      time: Type.Optional({ ...GivenTime, description: 'The time to move to.' }),
      running: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  returns: singleSchema(ClockState),
  demoOnly: true,
  takesLong: true,
  problems: ['none_given', 'refused_reference'],
  example: {
    body: { advance_seconds: 60 },
    answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] },
  },
})

export const readClock = controlOperation('GET /control/clock', {
  id: 'ReadClock',
  summary: 'Get the time of the demo.',
  returns: singleSchema(ClockState),
  demoOnly: true,
  example: { answer: { data: [{ now: '2026-03-01T12:01:00.250Z', running: true }] } },
})

const [exampleUserId, exampleChannelId] = ['25009227', '141981764']
const Watching = Type.Object({
  user_id: Type.String(),
  channel_id: Type.String(),
  since: TimeMillis,
  until: orNull(TimeMillis, 'Null: until stopped.'),
  reason: orNull(
    Type.Enum(HEARTBEAT_REASONS),
    'Why the last heartbeat earned nothing, as SendHeartbeat reports it; null if it did.',
  ),
})
const watching = {
  user_id: exampleUserId,
  channel_id: exampleChannelId,
  since: '2026-03-01T12:00:00.250Z',
  until: null,
  reason: 'too_early' as const,
}
const viewerParams = Type.Object({ user_id: DecimalId })

export const startWatching = controlOperation('PUT /control/watching/{user_id}', {
  id: 'StartWatching',
  summary: 'Let a simulated viewer watch a channel, so that the user earns drops.',
  description:
    'The viewer sends a heartbeat now and every 30 s of the clock, also while the clock is moved. It watches one channel at a time, and is not counted in the viewers of the stream. At most 1000 watch at a time.',
  params: viewerParams,
  body: Type.Object(
    {
      channel_id: { ...DecimalId, description: 'The id of the broadcaster.' },
      for_seconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 31_536_000, description: 'Default: until stopped.' }),
      ),
    },
    { additionalProperties: false },
  ),
  returns: singleSchema(Watching),
  demoOnly: true,
  problems: ['not_found', 'unknown_reference', 'refused_reference'],
  example: {
    params: { user_id: exampleUserId },
    body: { channel_id: exampleChannelId },
    answer: { data: [watching] },
  },
})

export const stopWatching = controlOperation('DELETE /control/watching/{user_id}', {
  id: 'StopWatching',
  summary: 'Stop a simulated viewer; nothing happens if the user does not watch.',
  params: viewerParams,
  demoOnly: true,
  example: { params: { user_id: exampleUserId } },
})

export const listWatching = controlOperation('GET /control/watching', {
  id: 'ListWatching',
  summary: 'List the simulated viewers.',
  returns: rowsSchema(Watching),
  demoOnly: true,
  example: { answer: { data: [watching] } },
})

export const readWorld = controlOperation('GET /control/world', {
  id: 'ReadWorld',
  summary: 'Get the world of the demo: URLs, ids, tokens, and the entries of the scenario by name.',
  returns: singleSchema(Type.Record(Type.String(), Type.Unknown())),
  demoOnly: true,
  example: {
    answer: { data: [{ base_url: 'http://localhost:8080', game: { id: '33214' } }] },
  },
})

export const saveSnapshot = controlOperation('POST /control/snapshot', {
  id: 'SaveSnapshot',
  summary:
    'Save the state of the demo as the one that a reset returns to: its data, clock and planned faults.',
  description: 'A second snapshot replaces the first.',
  demoOnly: true,
  example: {},
})

export const resetWorld = controlOperation('POST /control/reset', {
  id: 'ResetWorld',
  summary:
    'Reset the demo to its snapshot, or to its initial state: the same ids, tokens, clock and planned faults.',
  description: 'The list of requests is cleared, too.',
  body: Type.Object(
    {
      to: Type.Optional(
        Type.Enum(['snapshot', 'start'], {
          description: '`start` ignores the snapshot and removes it (default: `snapshot`, if there is one).',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  demoOnly: true,
  example: { body: {} },
})

export const planFault = controlOperation('POST /control/faults', {
  id: 'PlanFault',
  summary: 'Make calls of an operation, or messages to subscribers, fail with the chosen outcome.',
  description:
    'A fault applies to calls of Helix, drops, OAuth and playback that pass authorization and have valid input. At most 1000 faults are planned at a time.',
  body: Fault,
  returns: singleSchema(Fault),
  demoOnly: true,
  problems: ['refused_reference'],
  example: {
    body: { operation: 'GetStreams', outcome: 'unavailable', times: 1 },
    answer: { data: [{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }] },
  },
})

export const listFaults = controlOperation('GET /control/faults', {
  id: 'ListFaults',
  summary: 'List the planned faults in the order in which they apply, with the remaining number of calls.',
  returns: rowsSchema(Fault),
  demoOnly: true,
  example: { answer: { data: [{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }] } },
})

export const clearFaults = controlOperation('DELETE /control/faults', {
  id: 'ClearFaults',
  summary: 'Remove all planned faults.',
  demoOnly: true,
  example: {},
})

export const listRequests = controlOperation('GET /control/requests', {
  id: 'ListRequests',
  summary: 'List the requests that the demo has answered, oldest first, or wait for one.',
  description:
    'Those of the control API are left out. The last 1000 are kept, up to 16 KiB of each body; tokens, secrets and stream keys are masked.',
  query: Type.Object({
    operation: Type.Optional(Type.String({ description: 'Only requests of this operation.' })),
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Only requests with a greater number.' })),
    first: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of requests (default: 1000).' }),
    ),
    wait_milliseconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT,
        description: 'How long to wait if there is none (default: 0).',
      }),
    ),
  }),
  returns: Type.Object({
    total: Type.Integer({
      minimum: 0,
      description: 'Number of requests of the operation, or of all, since the last reset or clear.',
    }),
    data: Type.Array(RecordedRequest),
  }),
  demoOnly: true,
  problems: ['refused_reference'],
  example: {
    query: { operation: 'UpdateDropsEntitlements', wait_milliseconds: 5000 },
    answer: {
      total: 1,
      data: [
        {
          number: 3,
          at: '2026-03-01T12:01:00.250Z',
          operation: 'UpdateDropsEntitlements',
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          query: {},
          headers: { authorization: 'Bearer ***', 'content-type': 'application/json' },
          body: {
            entitlement_ids: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0'],
            fulfillment_status: 'FULFILLED',
          },
          client_id: 'reefdrops0fulfilment0backend01',
          user_id: null,
          status: 200,
          answer: { data: [{ status: 'SUCCESS', ids: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0'] }] },
          fault: null,
        },
      ],
    },
  },
})

export const clearRequests = controlOperation('DELETE /control/requests', {
  id: 'ClearRequests',
  summary: 'Clear the list of requests.',
  demoOnly: true,
  example: {},
})
