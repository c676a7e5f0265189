/**
 * Random schedules of viewers, tabs and nodes: what is credited is the union of the slots that counted, whatever is lost,
 * repeated, late or reordered, and however clocks are stepped.
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { OpenCampaigns } from '../../src/directory/watch-time/open-campaigns.ts'
import { WatchTime } from '../../src/directory/watch-time/watch-time.ts'
import type { StoredCampaign } from '../../src/domain/campaign.ts'
import type { ViewerSession } from '../../src/domain/playback.ts'
import { SLOT_MILLISECONDS, slotAt } from '../../src/domain/watched-minutes.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { CampaignWorld, GAME, START } from '../store/campaign-world.ts'
import type { EngineName } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

export const CHANNEL = '4001'
const DAY = 86_400_000

/** A channel with a long campaign, and new viewers. */
export class WatchWorld {
  readonly world: CampaignWorld
  readonly campaign: StoredCampaign
  readonly close: () => Promise<void>
  #viewers = 7000

  private constructor(world: CampaignWorld, campaign: StoredCampaign, close: () => Promise<void>) {
    this.world = world
    this.campaign = campaign
    this.close = close
  }

  static async open(engine: EngineName): Promise<WatchWorld> {
    const { store, close } = await openTestStore(engine)
    const world = await CampaignWorld.create(store, 1)
    await world.addUsers([CHANNEL])
    const times = { starts_at: isoMillis(START - DAY), ends_at: isoMillis(START + 30 * DAY) }
    return new WatchWorld(world, await world.publish([10_000], times), close)
  }

  async newViewer(): Promise<string> {
    this.#viewers += 1
    await this.world.addUsers([String(this.#viewers)])
    return String(this.#viewers)
  }

  minutes(viewer: string): Promise<number> {
    return this.world.minutes(viewer, this.campaign.id)
  }

  /** Tries so many random schedules, each with a new viewer. */
  async trySchedules(schedule: typeof schedules, numRuns: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(schedule, async steps => runSchedule(this, await this.newViewer(), steps)),
      { numRuns },
    )
  }
}

/** A node without a server: its clock can be stepped, and its reports are kept to be sent again. */
export class TestNode {
  readonly watchTime: WatchTime
  readonly sent: Parameters<Store['commands']['flushWatchTime']>[0][] = []
  /** Milliseconds by which its clock is wrong. */
  skew = 0
  isAway = false

  private constructor(store: Store, campaigns: OpenCampaigns, time: () => number) {
    const clock = { now: () => time() + this.skew }
    const flushWatchTime: Store['commands']['flushWatchTime'] = args => {
      if (this.isAway) return Promise.reject(new Error('the store is away'))
      // The clock of the store is right, whatever that of the node is.
      this.sent.push({ ...args, now: time() })
      return store.commands.flushWatchTime({ ...args, now: time() })
    }
    this.watchTime = new WatchTime({
      store: { ...store, as: () => ({ ...store, commands: { ...store.commands, flushWatchTime } }) } as Store,
      clock,
      campaigns,
      findGame: channel => (channel === CHANNEL ? GAME : undefined),
      mostPerNetwork: 100,
      hasOwnClock: true,
    })
  }

  static async open(store: Store, time: () => number): Promise<TestNode> {
    const campaigns = new OpenCampaigns(store, { now: time })
    ;(await campaigns.load())()
    return new TestNode(store, campaigns, time)
  }
}

type Step =
  | { kind: 'beat'; node: number; tab: number }
  | { kind: 'wait'; seconds: number }
  | { kind: 'flush'; node: number }
  | { kind: 'repeat'; node: number; report: number }
  | { kind: 'step'; node: number; seconds: number }
  | { kind: 'away'; node: number; away: boolean }
  | { kind: 'kill'; node: number }

const node = fc.nat(2)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('beat' as const), node, tab: fc.nat(3) }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 45 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('flush' as const), node }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), node, report: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      node,
      seconds: fc.integer({ min: -200, max: 200 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('away' as const), node, away: fc.boolean() }) },
)
const kill: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('kill' as const), node })

export const schedules = fc.array(step, { minLength: 10, maxLength: 90 })
export const schedulesWithKills = fc.array(
  fc.oneof({ weight: 15, arbitrary: step }, { weight: 1, arbitrary: kill }),
  {
    minLength: 10,
    maxLength: 90,
  },
)

/** Runs a schedule for a new viewer, and compares the minutes of the store with the slots that counted. */
async function runSchedule(
  { world, campaign }: WatchWorld,
  viewer: string,
  steps: readonly Step[],
): Promise<void> {
  let time = START + 10 * SLOT_MILLISECONDS
  const now = () => time
  const nodes = [
    await TestNode.open(world.store, now),
    await TestNode.open(world.store, now),
    await TestNode.open(world.store, now),
  ]
  const at = (index: number): TestNode => nodes[index] as TestNode
  const sessions: ViewerSession[] = Array.from({ length: 4 }, (_, tab) => ({
    id: `session${tab}`,
    user_id: CHANNEL,
    watches: 'live',
    began: START,
    viewer,
  }))
  /** Slots that counted, those that a killed node had, and those that a wrong clock put too far ahead. */
  const [counted, doubtful] = [new Set<number>(), new Set<number>()]
  const unflushed = new Map<TestNode, Set<number>>()
  for (const each of steps) {
    switch (each.kind) {
      case 'beat': {
        const { watchTime, skew } = at(each.node)
        const { reason } = await watchTime.beat(sessions[each.tab] as ViewerSession, undefined)
        expect(reason).toBeUndefined()
        const slot = slotAt(time + skew)
        // A node counts a slot once, so a slot of a clock that was wrong may be reported when it is no longer ahead.
        if (slot > slotAt(time) + 2) doubtful.add(slot)
        else counted.add(slot)
        unflushed.set(at(each.node), (unflushed.get(at(each.node)) ?? new Set()).add(slot))
        break
      }
      case 'wait':
        time += each.seconds * 1000
        break
      case 'flush':
        if (!at(each.node).isAway) {
          await at(each.node).watchTime.close()
          unflushed.delete(at(each.node))
        }
        break
      case 'repeat': {
        const report = at(each.node).sent.at(-1 - each.report)
        if (report !== undefined) await world.store.commands.flushWatchTime({ ...report, now: time })
        break
      }
      case 'step':
        at(each.node).skew += each.seconds * 1000
        break
      case 'away':
        at(each.node).isAway = each.away
        break
      case 'kill':
        for (const slot of unflushed.get(at(each.node)) ?? []) doubtful.add(slot)
        unflushed.delete(at(each.node))
        nodes[each.node] = await TestNode.open(world.store, now)
        break
    }
  }
  for (const each of nodes) {
    each.isAway = false
    await each.watchTime.close()
  }
  const minutes = await world.minutes(viewer, campaign.id)
  const [least, most] = [counted.difference(doubtful).size, counted.union(doubtful).size]
  if (least === most) expect(minutes).toBe(most)
  else expect([minutes >= least, minutes <= most]).toEqual([true, true])
}
