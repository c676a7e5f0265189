import {
  advanceClock,
  clearFaults,
  listFaults,
  planFault,
  readClock,
  resetWorld,
} from '../../contract/control/demo.ts'
import { refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { DemoControls } from '../demo-controls.ts'
import { violationIn } from '../faults.ts'
import { implement } from '../implement.ts'

export const handleAdvanceClock = implement(advanceClock, async ({ body }, { demo }) => {
  if (body.advance_seconds === undefined && body.running === undefined) {
    return refuse('none_given', 'advance_seconds', 'running')
  }
  if (body.running !== undefined) demo?.clock.setRunning(body.running)
  if (body.advance_seconds !== undefined) demo?.clock.advance(body.advance_seconds * 1000)
  return { data: [clockState(demo)] }
})

export const handleReadClock = implement(readClock, async (_call, { demo }) => ({ data: [clockState(demo)] }))

function clockState(demo: DemoControls | undefined) {
  return { now: isoMillis(demo?.clock.now() ?? 0), running: demo?.clock.running ?? true }
}

export const handlePlanFault = implement(planFault, async ({ body }, { demo }) => {
  const violation = violationIn(body)
  if (violation !== undefined) return refuse('refused_reference', violation)
  const fault = {
    ...body,
    ...(body.entitlement_id && { entitlement_id: body.entitlement_id.toLowerCase() }),
    times: body.times ?? 1,
  }
  demo?.faults.plan(fault)
  return { data: [fault] }
})

export const handleListFaults = implement(listFaults, async (_call, { demo }) => ({
  data: (demo?.faults.planned ?? []).map(({ entitlement_id, milliseconds, ...fault }) => ({
    ...fault,
    ...(entitlement_id !== undefined && { entitlement_id }),
    ...(milliseconds !== undefined && { milliseconds }),
  })),
}))

export const handleClearFaults = implement(clearFaults, async (_call, { demo }) => {
  demo?.faults.clear()
  return undefined
})

export const handleResetWorld = implement(resetWorld, async (_call, { demo }) => {
  await demo?.reset()
  return undefined
})
