import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StoredCampaign } from '../../src/domain/campaign.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { CampaignWorld, START } from '../store/campaign-world.ts'
import { runs } from '../support/properties.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'
import { CHANNEL, runSchedule, schedules, schedulesWithKills, TestNode } from './watch-time.ts'

for (const engine of engines) {
  describe(`watch time on ${engine}`, () => {
    let store: Store
    let close: () => Promise<void>
    let world: CampaignWorld
    let campaign: StoredCampaign
    let viewers = 7000
    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
      world = await CampaignWorld.create(store, 1)
      await world.addUsers([CHANNEL])
      const day = 86_400_000
      campaign = await world.publish([10_000], {
        starts_at: isoMillis(START - day),
        ends_at: isoMillis(START + 30 * day),
      })
    })
    afterAll(() => close())

    const newViewer = async () => {
      viewers += 1
      await world.addUsers([String(viewers)])
      return String(viewers)
    }

    test('random schedules credit the union of the slots that counted', async () => {
      await fc.assert(
        fc.asyncProperty(schedules, async steps => runSchedule(world, campaign, await newViewer(), steps)),
        { numRuns: runs(engine === 'sqlite' ? 400 : 60) },
      )
    })

    test('with killed nodes, none is credited twice, and only unflushed ones are missing', async () => {
      await fc.assert(
        fc.asyncProperty(schedulesWithKills, async steps =>
          runSchedule(world, campaign, await newViewer(), steps),
        ),
        { numRuns: runs(engine === 'sqlite' ? 200 : 40) },
      )
    })

    test('while the store is away, slots wait for half an hour', async () => {
      let time = START
      const [node, viewer] = [await TestNode.open(store, () => time), await newViewer()]
      const session = { id: 'x', user_id: CHANNEL, watches: 'live', began: START - 60_000, viewer } as const
      await node.watchTime.beat(session, undefined)
      node.isAway = true
      for (let minute = 1; minute < 30; minute++) {
        time += 60_000
        const { reason } = await node.watchTime.beat(session, undefined)
        expect(reason).toBeUndefined()
        await node.watchTime.flush().catch(() => undefined)
      }
      expect(await world.minutes(viewer, campaign.id)).toBe(0)
      node.isAway = false
      await node.watchTime.close()
      expect(await world.minutes(viewer, campaign.id)).toBe(30)
    })

    test('answers have the minutes of the store and those that wait', async () => {
      let time = START
      const [one, two, viewer] = [
        await TestNode.open(store, () => time),
        await TestNode.open(store, () => time),
        await newViewer(),
      ]
      const session = { id: 'x', user_id: CHANNEL, watches: 'live', began: START - 60_000, viewer } as const
      const minutes = async (node: TestNode) =>
        (await node.watchTime.beat(session, undefined)).data[0]?.minutes
      expect(await minutes(one)).toBe(1)
      time += 60_000
      expect(await minutes(one)).toBe(2)
      await one.watchTime.close()
      time += 60_000
      // Another node reads what the store has.
      expect(await minutes(two)).toBe(3)
      await two.watchTime.close()
      expect(await world.minutes(viewer, campaign.id)).toBe(3)
    })
  })
}
