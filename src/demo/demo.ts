import { repeatedly } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Services } from '../operations/implement.ts'
import type { Step } from '../store/commands/index.ts'
import { planWorld, type WorldOptions, type WorldPlan } from './world.ts'

const FACT = 'demo world'
const TICK_MILLISECONDS = 5000

/**
 * Creates the demo world in an empty store, or continues the demo world that the store contains. A store with other data is
 * rejected.
 */
export async function prepareWorld(services: Services, wanted: WorldOptions): Promise<WorldPlan> {
  const { store, clock, streamKeys } = services
  const fact = await store.facts.find(FACT)
  if (fact !== undefined) return continueWorld(services, JSON.parse(fact) as WorldOptions, wanted)
  const existing = await store.users.page({ first: 1, direction: 'forward' })
  if (existing.rows.length > 0) {
    throw new OperatorError(
      'the store contains data other than a demo world: choose another with --data, or use strand serve',
    )
  }
  const plan = planWorld(wanted, clock.now(), streamKeys)
  await store.commands.runSteps({ steps: stepsOf(plan) })
  applyPlan(services, plan)
  return plan
}

/** Continues the world in the store and ignores the requested options, except that a different scenario is an error. */
function continueWorld(services: Services, options: WorldOptions, wanted: WorldOptions): WorldPlan {
  const { scenario } = wanted
  if (scenario !== undefined && JSON.stringify(scenario) !== JSON.stringify(options.scenario)) {
    throw new OperatorError(
      'the store contains a demo world that was created without this scenario: choose another with --data',
    )
  }
  const plan = planWorld(options, services.clock.now(), services.streamKeys)
  applyPlan(services, plan)
  return plan
}

function applyPlan(services: Services, { faults, options }: WorldPlan): void {
  const { demo, store, clock, streamKeys } = services
  for (const fault of faults) demo?.faults.plan(fault)
  demo?.onReset(async () => {
    const plan = planWorld(options, clock.now(), streamKeys)
    await store.commands.runSteps({ steps: [['clearEverything', {}], ...stepsOf(plan)] })
    for (const fault of plan.faults) demo.faults.plan(fault)
  })
}

function stepsOf({ steps, options }: WorldPlan): Step[] {
  return [...steps, ['noteFact', { name: FACT, value: JSON.stringify(options) }]]
}

/** The secrets of a demo world are public, so it must not be served in production. */
export async function refuseDemoWorld({ store }: Services): Promise<void> {
  if ((await store.facts.find(FACT)) === undefined) return
  throw new OperatorError(
    'the store contains a demo world, whose tokens are public: use strand demo, or another store',
  )
}

/** Changes the viewer counts of the demo's channels by a small random amount at every tick. */
export function moveViewers(services: Services, plan: WorldPlan): { stop(): Promise<void> } {
  const random = new SeededRandom(plan.options.seed + 1)
  const own = new Set(plan.channels)
  const tick = async () => {
    const live = await services.store.streams.live()
    const counts = live
      .filter(stream => own.has(stream.user_id))
      .map(stream => [stream.user_id, drift(random, stream.viewer_count)] as const)
    await services.store.commands.reportViewers({ counts })
  }
  return repeatedly(TICK_MILLISECONDS, tick, error =>
    services.log.warn({ error: String(error) }, 'changing the viewer counts of the demo failed'),
  )
}

function drift(random: SeededRandom, viewers: number): number {
  const step = Math.max(1, Math.round(viewers * 0.05))
  return Math.max(0, viewers + random.between(-step, step))
}
