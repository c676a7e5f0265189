import { CannotStart } from '../kit/cannot-start.ts'
import { repeatedly } from '../kit/lifetime.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Rooms } from '../operations/implement.ts'
import { planWorld, type WorldOptions, type WorldPlan } from './world.ts'

const FACT = 'demo world'
const TICK_MILLISECONDS = 5000

/**
 * Puts the demo world into an empty store; in one that holds a demo world already, that one goes on. A store with
 * anything else in it is left alone.
 */
export async function prepareWorld(rooms: Rooms, wanted: WorldOptions): Promise<WorldPlan> {
  const { store, clock, streamKeys } = rooms
  const fact = await store.facts.find(FACT)
  if (fact !== undefined) return planWorld(JSON.parse(fact) as WorldOptions, clock.now(), streamKeys)
  const anybody = await store.users.page({ first: 1, direction: 'forward' })
  if (anybody.rows.length > 0) {
    throw new CannotStart(
      'the store holds something else than a demo world: choose another with --data, or use strand serve',
    )
  }
  const plan = planWorld(wanted, clock.now(), streamKeys)
  await store.commands.runSteps({
    steps: [...plan.steps, ['noteFact', { name: FACT, value: JSON.stringify(wanted) }]],
  })
  return plan
}

/** The secrets of a demo world are public: whoever serves for real must not serve one. */
export async function refuseDemoWorld({ store }: Rooms): Promise<void> {
  if ((await store.facts.find(FACT)) === undefined) return
  throw new CannotStart(
    'the store holds a demo world, whose tokens are public: use strand demo, or another store',
  )
}

/** Lets the viewer counts of the demo's own channels wander, a little at every tick. */
export function moveViewers(rooms: Rooms, plan: WorldPlan): { stop(): Promise<void> } {
  const random = new SeededRandom(plan.options.seed + 1)
  const own = new Set(plan.channels)
  const tick = async () => {
    const live = await rooms.store.streams.live()
    const counts = live
      .filter(stream => own.has(stream.user_id))
      .map(stream => [stream.user_id, wander(random, stream.viewer_count)] as const)
    await rooms.store.commands.reportViewers({ counts })
  }
  return repeatedly(TICK_MILLISECONDS, tick, error =>
    rooms.log.warn({ error: String(error) }, 'the viewers of the demo could not be moved'),
  )
}

function wander(random: SeededRandom, viewers: number): number {
  const step = Math.max(1, Math.round(viewers * 0.05))
  return Math.max(0, viewers + random.between(-step, step))
}
