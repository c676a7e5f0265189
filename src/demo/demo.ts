import { repeatedly } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Services } from '../operations/implement.ts'
import type { Step } from '../store/command-list.ts'
import { ScenarioEvents } from './scenario-events.ts'
import { planWorld, type WorldOptions, type WorldPlan } from './world.ts'

const FACT = 'demo world'
const TICK_MILLISECONDS = 5000

/**
 * Puts the demo world into an empty store, or continues with the one that the store holds. A store with anything else in it
 * is left alone.
 */
export async function prepareWorld(services: Services, wanted: WorldOptions): Promise<WorldPlan> {
  const { store, clock, streamKeys, demo } = services
  const options = (await storedOptions(services, wanted)) ?? wanted
  const plan = () => planWorld(options, clock.now(), streamKeys)
  const first = plan()
  // A process that was killed may have left a snapshot.
  if (options === wanted) await store.commands.runSteps({ steps: listSteps(first) })
  else await store.commands.dropSnapshot({})
  if (demo === undefined) return first
  const events = new ScenarioEvents(services)
  demo.timeline.use('events', events)
  const begin = (world: WorldPlan) => {
    for (const fault of world.faults) demo.faults.plan(fault)
    events.restart(world.events, clock.now())
    demo.viewers.restart(world.watching)
  }
  begin(first)
  demo.world = options
  let restoreSaved: (() => void)[] = []
  demo.useStates({
    recreate: async () => {
      const again = plan()
      await store.commands.runSteps({ steps: [['clearEverything', {}], ...listSteps(again)] })
      begin(again)
    },
    save: async () => {
      await store.commands.runSteps({ steps: [['saveSnapshot', {}]] })
      restoreSaved = [events.save(), demo.viewers.save()]
    },
    restore: async () => {
      await store.commands.runSteps({ steps: [['restoreSnapshot', {}]] })
      for (const restore of restoreSaved) restore()
    },
  })
  return first
}

/** The options of the world in the store; undefined if the store is empty. A scenario is never ignored silently. */
async function storedOptions(
  { store }: Services,
  { scenario }: WorldOptions,
): Promise<WorldOptions | undefined> {
  const fact = await store.facts.find(FACT)
  if (fact !== undefined) {
    const options = JSON.parse(fact) as WorldOptions
    if (scenario === undefined || JSON.stringify(scenario) === JSON.stringify(options.scenario))
      return options
    throw new OperatorError(
      'the store holds a demo world created without this scenario: choose another data folder with --data',
    )
  }
  const users = await store.users.page({ first: 1, direction: 'forward' })
  if (users.rows.length === 0) return undefined
  throw new OperatorError(
    'the store holds data that is not a demo world: choose another data folder with --data, or use strand serve',
  )
}

function listSteps({ steps, options }: WorldPlan): Step[] {
  return [...steps, ['setFact', { name: FACT, value: JSON.stringify(options) }]]
}

/** The secrets of a demo world are public: a real server must not serve one. */
export async function refuseDemoWorld({ store }: Services): Promise<void> {
  if ((await store.facts.find(FACT)) === undefined) return
  throw new OperatorError(
    'the store holds a demo world, whose tokens are public: use strand demo, or another store',
  )
}

/** Changes the viewer counts of the demo's channels slightly every few seconds. Those that are broadcast have real viewers. */
export function moveViewers(services: Services, plan: WorldPlan): { stop(): Promise<void> } {
  const random = new SeededRandom(plan.options.seed + 1)
  const { store } = services
  const tick = async () => {
    const broadcast = await store.streams.playing(plan.channels)
    const own = new Set(plan.channels).difference(new Set(broadcast.map(({ user_id }) => user_id)))
    const live = await store.streams.live()
    const counts = live
      .filter(stream => own.has(stream.user_id))
      .map(stream => [stream.user_id, driftViewers(random, stream.viewer_count)] as const)
    await store.commands.reportViewers({ counts })
  }
  return repeatedly(TICK_MILLISECONDS, tick, error =>
    services.log.warn({ error: String(error) }, 'updating the viewer counts of the demo failed'),
  )
}

/** The next viewer count of a channel: at most 5 % away, and never none, because a person who watches is one. */
export function driftViewers(random: SeededRandom, viewers: number): number {
  const step = Math.max(1, Math.round(viewers * 0.05))
  return Math.max(1, viewers + random.between(-step, step))
}
