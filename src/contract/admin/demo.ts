import {
  advanceClock,
  clearFaults,
  clearRequests,
  listFaults,
  listRequests,
  listWatching,
  planFault,
  readClock,
  readWorld,
  resetWorld,
  saveSnapshot,
  startWatching,
  stopWatching,
} from '../control/demo.ts'
import { helixOperations, oauthOperations, playbackOperations } from '../index.ts'
import type { Operation } from '../operation.ts'
import { CALL_OUTCOMES, MESSAGE_OUTCOMES, OUTCOME_MEANINGS } from '../resources/fault.ts'
import { type AdminTable, action, type ChoiceGroup, type Resource } from './resource.ts'

const DEMO = '--url http://localhost:8080 --token-file operator-token'

export const moveClock = action(
  'set',
  advanceClock,
  [`--advance-seconds 3600 ${DEMO}`, `--time 2030-01-01T00:00:00Z ${DEMO}`],
  { form: { path: 'clock', title: 'Move the clock', done: 'The clock was moved.' } },
)
const showClock = action('show', readClock, [DEMO])

const listOperations = (title: string, operations: Readonly<Record<string, Operation>>): ChoiceGroup => ({
  title,
  choices: Object.values(operations).map(({ id, summary }) => [id, summary]),
})

const listOutcomes = (title: string, outcomes: readonly (keyof typeof OUTCOME_MEANINGS)[]): ChoiceGroup => ({
  title,
  choices: outcomes.map(outcome => [outcome, OUTCOME_MEANINGS[outcome]]),
})

export const fault = action(
  'plan',
  planFault,
  [
    `--operation GetStreams --outcome unavailable --times 2 ${DEMO}`,
    `--operation GetStreams --outcome connection_reset --skip 2 --where user_id=141981764 ${DEMO}`,
    `--outcome webhook_twice --where type=stream.online ${DEMO}`,
  ],
  {
    form: {
      path: 'fault',
      title: 'Plan fault',
      done: 'The fault is planned.',
      omit: ['where'],
      choices: {
        operation: [
          listOperations('Public API', helixOperations),
          listOperations('OAuth', oauthOperations),
          listOperations('Playback', playbackOperations),
        ],
        outcome: [
          listOutcomes('Calls of an operation', CALL_OUTCOMES),
          listOutcomes('Messages to subscribers', MESSAGE_OUTCOMES),
        ],
      },
    },
  },
)
const faultList = action('list', listFaults, [DEMO], { columns: ['operation', 'outcome', 'skip', 'times'] })
export const removeFaults = action('clear', clearFaults, [DEMO], {
  form: { path: 'clear-faults', title: 'Remove all faults', done: 'No faults are planned.' },
})

const watch = action('add', startWatching, [`ivory_marten --channel dusty_koala --for-seconds 3600 ${DEMO}`])
const watchingList = action('list', listWatching, [DEMO], {
  columns: ['user_id', 'channel_id', 'since', 'until', 'reason'],
})
const stopViewer = action('remove', stopWatching, [`ivory_marten ${DEMO}`])

const requestList = action('list', listRequests, [`--operation GetStreams ${DEMO}`], {
  columns: ['number', 'at', 'operation', 'method', 'path', 'status', 'fault'],
})
const removeRequests = action('clear', clearRequests, [DEMO])

const showWorld = action('show', readWorld, [`--json ${DEMO}`])
export const snapshot = action('snapshot', saveSnapshot, [DEMO], {
  form: { path: 'snapshot', title: 'Save snapshot', done: 'A reset returns to this state.' },
})
export const reset = action('reset', resetWorld, [`--yes ${DEMO}`], {
  confirm: 'final',
  form: { path: 'reset', title: 'Reset the demo', done: 'The demo starts again.' },
})

/** The controls of a demo. */
export const demo: Resource = {
  nouns: [
    { words: 'clock', meaning: 'the clock of a demo', actions: [moveClock, showClock] },
    { words: 'fault', meaning: 'injected faults of a demo', actions: [fault, faultList, removeFaults] },
    {
      words: 'watching',
      meaning: 'simulated viewers of a demo',
      actions: [watch, watchingList, stopViewer],
    },
    {
      words: 'request',
      meaning: 'requests that a demo has answered',
      actions: [requestList, removeRequests],
    },
    {
      words: 'world',
      meaning: 'the generated world of a demo',
      actions: [showWorld, snapshot, reset],
    },
  ],
}

/** The page of the console with the controls. Its actions are on no row. */
export const demoTable: AdminTable = {
  path: 'demo',
  title: 'Demo',
  one: 'fault',
  group: 'System',
  list: listFaults,
  key: 'operation',
  name: 'operation',
  columns: ['operation', 'outcome', 'times'],
  empty: 'No faults are planned.',
  actions: [moveClock, fault, removeFaults, snapshot, reset],
  listActions: [moveClock, fault, removeFaults, snapshot, reset],
}
