import { advanceClock, clearFaults, planFault } from '../../contract/control/demo.ts'
import { operations } from '../../contract/index.ts'
import { problemsOf } from '../../contract/operation.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { implement } from '../implement.ts'

export const handleAdvanceClock = implement(advanceClock, async ({ body }, { demo }) => {
  demo?.clock.advance(body.advance_seconds * 1000)
  return { data: [{ now: isoMillis(demo?.clock.now() ?? 0) }] }
})

export const handlePlanFault = implement(planFault, async ({ body }, { demo }) => {
  const broken =
    operations.find(operation => operation.id === body.operation) ??
    raise(
      'refused_reference',
      `There is no operation called "${body.operation}"; the reference lists them all.`,
    )
  if (body.outcome === 'rate_limited' && !problemsOf(broken).has('rate_limited')) {
    raise('refused_reference', `The operation ${broken.id} is not rate limited.`)
  }
  if (body.outcome === 'update_failed' && body.operation !== 'UpdateDropsEntitlements') {
    raise('refused_reference', 'The outcome update_failed belongs to UpdateDropsEntitlements.')
  }
  const fault = {
    ...body,
    ...(body.entitlement_id && { entitlement_id: body.entitlement_id.toLowerCase() }),
    times: body.times ?? 1,
  }
  demo?.faults.plan(fault)
  return { data: [fault] }
})

export const handleClearFaults = implement(clearFaults, async (_call, { demo }) => {
  demo?.faults.clear()
  return undefined
})
