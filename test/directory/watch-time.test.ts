import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { START } from '../store/campaign-world.ts'
import { runs } from '../support/properties.ts'
import { engines } from '../support/server.ts'
import { CHANNEL, schedules, schedulesWithKills, TestNode, WatchWorld } from './watch-time.ts'

const MINUTE = 60_000

for (const engine of engines) {
  describe(`watch time on ${engine}`, () => {
    let watch: WatchWorld
    beforeAll(async () => {
      watch = await WatchWorld.open(engine)
    })
    afterAll(() => watch.close())

    /** A session that is old enough to count. */
    const newSession = (viewer: string) =>
      ({ id: 'x', user_id: CHANNEL, watches: 'live', began: START - MINUTE, viewer }) as const
    const openNode = (time: () => number) => TestNode.open(watch.world.store, time)

    test('random schedules credit the union of the slots that counted', async () => {
      await watch.trySchedules(schedules, runs(engine === 'sqlite' ? 400 : 60))
    })

    test('with killed nodes, none is credited twice, and only unflushed ones are missing', async () => {
      await watch.trySchedules(schedulesWithKills, runs(engine === 'sqlite' ? 200 : 40))
    })

    test('while the store is away, slots wait for half an hour', async () => {
      let time = START
      const [node, viewer] = [await openNode(() => time), await watch.newViewer()]
      const session = newSession(viewer)
      await node.watchTime.beat(session, undefined)
      node.isAway = true
      for (let minute = 1; minute < 30; minute++) {
        time += MINUTE
        const { reason } = await node.watchTime.beat(session, undefined)
        expect(reason).toBeUndefined()
        await node.watchTime.flush().catch(() => undefined)
      }
      expect(await watch.minutes(viewer)).toBe(0)
      node.isAway = false
      await node.watchTime.close()
      expect(await watch.minutes(viewer)).toBe(30)
    })

    test('answers have the minutes of the store and those that wait', async () => {
      let time = START
      const [one, two, viewer] = [
        await openNode(() => time),
        await openNode(() => time),
        await watch.newViewer(),
      ]
      const session = newSession(viewer)
      const minutes = async (node: TestNode) =>
        (await node.watchTime.beat(session, undefined)).data[0]?.minutes
      expect(await minutes(one)).toBe(1)
      time += MINUTE
      expect(await minutes(one)).toBe(2)
      await one.watchTime.close()
      time += MINUTE
      // Another node reads what the store has.
      expect(await minutes(two)).toBe(3)
      await two.watchTime.close()
      expect(await watch.minutes(viewer)).toBe(3)
    })

    test('after a stop on one node, another that has not heard of it earns its viewers nothing', async () => {
      let time = START
      const { store } = watch.world
      const [node, viewer] = [await openNode(() => time), await watch.newViewer()]
      const session = newSession(viewer)
      for (let minute = 0; minute < 3; minute++, time += MINUTE) await node.watchTime.beat(session, undefined)
      const { id } = watch.campaign
      await store.commands.stopCampaign({ id, now: time })
      for (let minute = 0; minute < 5; minute++, time += MINUTE) {
        const { reason } = await node.watchTime.beat(session, undefined)
        expect(reason).toBeUndefined()
        await node.watchTime.flush()
      }
      await node.watchTime.close()
      expect(await watch.minutes(viewer)).toBe(3)
      await store.commands.publishCampaign({ id, now: time })
    })
  })
}
