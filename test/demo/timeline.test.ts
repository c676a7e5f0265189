/** The time that a demo's clock skips is played in order. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { OpenCampaigns } from '../../src/directory/watch-time/open-campaigns.ts'
import { WatchTime } from '../../src/directory/watch-time/watch-time.ts'
import type { StoredCampaign } from '../../src/domain/campaign.ts'
import { isoMillis, MovableClock } from '../../src/kit/time/clock.ts'
import { DemoControls } from '../../src/operations/demo/demo-controls.ts'
import type { Store } from '../../src/store/store.ts'
import { CampaignWorld, GAME, START } from '../store/campaign-world.ts'
import { runs } from '../support/properties.ts'
import { openTestStore } from '../support/store/stores.ts'

const CHANNEL = '4001'
const DAY = 86_400_000

let store: Store
let close: () => Promise<void>
let world: CampaignWorld
let campaign: StoredCampaign
let campaigns: OpenCampaigns
beforeAll(async () => {
  ;({ store, close } = await openTestStore('sqlite'))
  world = await CampaignWorld.create(store, 1)
  await world.addUsers([CHANNEL])
  const ends_at = isoMillis(START + 100 * DAY)
  campaign = await world.publish([60], { starts_at: isoMillis(START - DAY), ends_at })
  campaigns = new OpenCampaigns(store, { now: () => START })
  ;(await campaigns.load())()
})
afterAll(() => close())

let viewers = 7000
async function newViewer(): Promise<string> {
  viewers += 1
  await world.addUsers([String(viewers)])
  return String(viewers)
}

const playsGame = (channel: string): string | undefined => (channel === CHANNEL ? GAME : undefined)

/** A demo without a server. */
function newDemo(at: number, findGame = playsGame) {
  const demo = new DemoControls(new MovableClock({ at, running: false }))
  const { clock } = demo
  const watchTime = new WatchTime({
    store,
    clock,
    campaigns,
    findGame,
    mostPerNetwork: 1,
    hasOwnClock: true,
  })
  demo.viewers.useWatchTime(watchTime)
  const advance = (seconds: number) =>
    demo.timeline.alone(() => demo.timeline.playTo(clock.now() + seconds * 1000))
  return { demo, clock, advance }
}

test('property: 59 minutes are never an hour, and one more always is, whatever second they begin at', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: DAY }),
      fc.array(fc.integer({ min: 1, max: 3539 }), { maxLength: 3 }),
      async (offset, stops) => {
        const { demo, advance } = newDemo(START + offset)
        const user_id = await newViewer()
        await demo.viewers.watch({ user_id, channel_id: CHANNEL })
        // In one step or in several.
        let passed = 0
        for (const stop of stops.toSorted((a, b) => a - b)) {
          await advance(stop - passed)
          passed = stop
        }
        await advance(3540 - passed)
        expect(await world.minutes(user_id, campaign.id)).toBe(59)
        await advance(60)
        expect(await world.minutes(user_id, campaign.id)).toBe(60)
      },
    ),
    { numRuns: runs(1000) },
  )
})

test('events come before heartbeats of the same time, and each at its time', async () => {
  let game: string | undefined
  const { demo, clock, advance } = newDemo(START, () => game)
  const seen: number[] = []
  const changes = [
    [10, GAME],
    [30, undefined],
  ] as const
  const pending = changes.map(([minute, value]) => [START + minute * 60_000, value] as const)
  demo.timeline.use('events', {
    nextAt: () => pending[0]?.[0],
    run: async () => {
      game = pending.shift()?.[1]
      seen.push(clock.now() - START)
    },
  })
  const user_id = await newViewer()
  await demo.viewers.watch({ user_id, channel_id: CHANNEL })
  await advance(3600)
  expect(seen).toEqual([600_000, 1_800_000])
  expect(clock.now()).toBe(START + 3_600_000)
  // From the slot of 12:10 to that of 12:29.
  expect(await world.minutes(user_id, campaign.id)).toBe(20)
})

test('many viewers who begin at different times, of whom some stop', async () => {
  const { demo, clock, advance } = newDemo(START)
  const wanted = new Map<string, number>()
  for (let n = 0; n < 40; n++) {
    const user_id = await newViewer()
    const for_seconds = n % 3 === 0 ? 60 * n + 60 : undefined
    await demo.viewers.watch({ user_id, channel_id: CHANNEL, for_seconds })
    const seconds = for_seconds ?? (START + 7_200_000 - clock.now()) / 1000
    wanted.set(user_id, Math.floor(seconds / 60))
    await advance(7)
  }
  expect(demo.viewers.countHeartbeats(clock.now())).toBe(0)
  await advance((START + 7_200_000 - clock.now()) / 1000)
  const seen = new Map<string, number>()
  for (const user_id of wanted.keys()) seen.set(user_id, await world.minutes(user_id, campaign.id))
  // Lengths that are no whole minutes are within one minute (D-212).
  for (const [user_id, minutes] of wanted) expect(seen.get(user_id)).toBeWithin(minutes, minutes + 2)
})

test('a part that fails is left to the job, and the others are played on', async () => {
  const { demo, clock, advance } = newDemo(START)
  let attempts = 0
  demo.timeline.use('events', {
    nextAt: () => START + 1000,
    run: async () => {
      attempts += 1
      throw new Error('the store is away')
    },
  })
  const user_id = await newViewer()
  await demo.viewers.watch({ user_id, channel_id: CHANNEL })
  await advance(600)
  expect([attempts, clock.now()]).toEqual([1, START + 600_000])
  expect(await world.minutes(user_id, campaign.id)).toBe(10)
  await expect(demo.timeline.runDue()).rejects.toThrow('the store is away')
})

test('moves of the clock, resets and what is due take turns', async () => {
  const { demo, clock, advance } = newDemo(START)
  const user_id = await newViewer()
  await demo.viewers.watch({ user_id, channel_id: CHANNEL })
  await Promise.all([advance(600), advance(600), demo.timeline.runDue(), advance(600)])
  expect(clock.now()).toBe(START + 1_800_000)
  expect(await world.minutes(user_id, campaign.id)).toBe(30)
  await Promise.all([advance(600), demo.reset('start')])
  expect([clock.now(), demo.viewers.size]).toEqual([START, 0])
})
