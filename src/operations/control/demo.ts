import {
  advanceClock,
  clearFaults,
  clearRequests,
  listFaults,
  listRequests,
  planFault,
  readClock,
  readWorld,
  resetWorld,
  saveSnapshot,
} from '../../contract/control/demo.ts'
import { refuse } from '../../contract/problem.ts'
import { MAX_FAULTS } from '../../contract/resources/fault.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoMillis, parseTimestamp } from '../../kit/time/clock.ts'
import type { DemoControls } from '../demo-controls.ts'
import { violationIn } from '../faults.ts'
import { implement } from '../implement.ts'
import { isRecordedOperation } from '../request-journal.ts'

export const handleAdvanceClock = implement(advanceClock, async ({ body }, { demo }) => {
  const { advance_seconds, time, running } = body
  if (advance_seconds === undefined && time === undefined && running === undefined)
    return refuse('none_given', 'advance_seconds', 'time', 'running')
  if (advance_seconds !== undefined && time !== undefined)
    return refuse('refused_reference', 'Only one of advance_seconds and time may be given.')
  const clock = assertDefined(demo, 'the controls of the demo').clock
  const to = time === undefined ? undefined : parseTimestamp(time)
  if (time !== undefined && to === undefined)
    return refuse('malformed_parameter', 'time', 'the day does not exist')
  // Stored rows and tokens carry times, which must not be in the future.
  if (to !== undefined && to < clock.now()) {
    const why = `The clock shows ${isoMillis(clock.now())} and cannot move back to ${time}; a reset returns to an earlier time.`
    return refuse('refused_reference', why)
  }
  if (running !== undefined) clock.setRunning(running)
  clock.advance(to === undefined ? Math.round((advance_seconds ?? 0) * 1000) : to - clock.now())
  await demo?.clockMoved()
  return { data: [clockState(demo)] }
})

export const handleReadClock = implement(readClock, async (_call, { demo }) => ({ data: [clockState(demo)] }))

function clockState(demo: DemoControls | undefined) {
  return { now: isoMillis(demo?.clock.now() ?? 0), running: demo?.clock.running ?? true }
}

export const handleReadWorld = implement(readWorld, async (_call, { demo }) => ({
  data: [{ ...demo?.description }],
}))

export const handlePlanFault = implement(planFault, async ({ body }, { demo }) => {
  const violation = violationIn(body)
  if (violation !== undefined) return refuse('refused_reference', violation)
  if (demo?.faults.plan(body) === false)
    return refuse('refused_reference', `At most ${MAX_FAULTS} faults may be planned; remove some first.`)
  return { data: [demo?.faults.pending.at(-1) ?? body] }
})

export const handleListFaults = implement(listFaults, async (_call, { demo }) => ({
  data: demo?.faults.pending ?? [],
}))

export const handleClearFaults = implement(clearFaults, async (_call, { demo }) => {
  demo?.faults.clear()
  return undefined
})

export const handleListRequests = implement(listRequests, async ({ query }, { demo }) => {
  const { operation, wait_milliseconds = 0, ...filter } = query
  if (operation !== undefined && !isRecordedOperation(operation))
    return refuse('refused_reference', `There is no operation called "${operation}" whose requests are kept.`)
  const data = (await demo?.journal.next({ operation, ...filter }, wait_milliseconds)) ?? []
  return { total: demo?.journal.total(operation) ?? 0, data }
})

export const handleClearRequests = implement(clearRequests, async (_call, { demo }) => {
  demo?.journal.clear()
  return undefined
})

export const handleSaveSnapshot = implement(saveSnapshot, async (_call, { demo }) => {
  await demo?.save()
  return undefined
})

export const handleResetWorld = implement(resetWorld, async ({ body }, { demo }) => {
  await demo?.reset(body.to)
  return undefined
})
