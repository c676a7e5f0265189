import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { claimReachedDrops } from '../../src/maintenance/claim-reached-drops.ts'
import { sweepExpired } from '../../src/maintenance/sweep-expired.ts'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { openStore, retryWhileUnavailable } from '../support/store/stores.ts'
import {
  CampaignWorld,
  expectDone,
  FIRST_SLOT,
  GAME,
  ORGANIZATION,
  START,
  slotsUpTo,
} from './campaign-world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

for (const engine of engines) {
  describe(`watched minutes on ${engine}`, () => {
    let store: Store
    let place: StorePlace
    let world: CampaignWorld
    let users = 0
    beforeAll(async () => {
      place = await createStorePlace(engine)
      store = await openStore(place)
      world = await CampaignWorld.create(store)
    })
    afterAll(async () => {
      await store.close()
      await place.remove()
    })

    const newViewer = async (): Promise<string> => {
      users += 1
      const id = String(5000 + users)
      await world.addUsers([id])
      return id
    }
    const stop = (id: string, now: number) => store.commands.stopCampaign({ id, now })

    test('are credited once, whatever is repeated, reordered and split', async () => {
      const [viewer, { id }] = [await newViewer(), await world.publish()]
      for (const slots of [[0, 1, 2], [2, 1], [5], [0, 1, 2, 3, 4, 5], [4]])
        await world.report(viewer, slots, [id], START + 6 * MINUTE)
      expect(await world.minutes(viewer, id)).toBe(6)
      await stop(id, START)
    })

    test('count for every campaign of the channel, and for the first channel of a slot only', async () => {
      const viewer = await newViewer()
      const [one, two, three] = [await world.publish(), await world.publish(), await world.publish()]
      await world.report(viewer, [0, 1], [one.id, two.id])
      await world.report(viewer, [1, 2], [three.id])
      const minutes = await Promise.all([one, two, three].map(({ id }) => world.minutes(viewer, id)))
      expect(minutes).toEqual([2, 2, 1])
      for (const { id } of [one, two, three]) await stop(id, START)
    })

    test('of many viewers are one report; users who do not exist are left out', async () => {
      const { id } = await world.publish()
      const viewers = [await newViewer(), await newViewer(), '999999']
      const progress = await store.commands.flushWatchTime({
        viewers: viewers.map((user_id, index) => ({ user_id, slots: [[FIRST_SLOT + index, 0]] })),
        sets: [[id, crypto.randomUUID()]],
        now: START + 5 * MINUTE,
        ownClock: true,
      })
      expect(progress.map(({ user_id, minutes }) => [user_id, minutes])).toEqual([
        [viewers[0] ?? '', 1],
        [viewers[1] ?? '', 1],
      ])
      await stop(id, START)
    })

    test('count neither before the start nor after a stop, also if a node has not heard of it', async () => {
      const [viewer, { id }] = [await newViewer(), await world.publish()]
      await world.report(viewer, slotsUpTo(3), [id])
      expectDone(await stop(id, START + 3 * MINUTE))
      await world.report(viewer, slotsUpTo(6), [id], START + 6 * MINUTE)
      await world.report(viewer, [-2, -1], [id], START + 6 * MINUTE)
      expect(await world.minutes(viewer, id)).toBe(3)
      // The campaign continues; what was watched in between does not count later either.
      expectDone(await store.commands.publishCampaign({ id, now: START + 6 * MINUTE }))
      await world.report(viewer, slotsUpTo(8), [id], START + 8 * MINUTE)
      expect(await world.minutes(viewer, id)).toBe(5)
      await stop(id, START)
    })

    test('of a clock that is ahead are not written, by the clock of the store', async () => {
      const ends_at = isoMillis(Date.now() + 40 * 24 * HOUR)
      const [viewer, { id }] = [
        await newViewer(),
        await world.publish([1], { starts_at: isoMillis(Date.now() - HOUR), ends_at }),
      ]
      const slot = Math.floor(Date.now() / MINUTE)
      const report = (slots: number[]) =>
        store.commands.flushWatchTime({
          viewers: [{ user_id: viewer, slots: slots.map(each => [each, 0]) }],
          sets: [[id]],
          now: Date.now() + 24 * HOUR,
        })
      expect(await report([slot + 60])).toEqual([])
      expect(await report([slot])).toMatchObject([{ minutes: 1 }])
      await stop(id, START)
    })

    test('at most five campaigns of a game run at the same time', async () => {
      const running = []
      for (let count = 0; count < 5; count++) running.push(await world.publish())
      const sixth = { id: crypto.randomUUID(), now: START }
      const [first] = running
      const content = {
        name: 'Six',
        organization_id: ORGANIZATION,
        game_id: GAME,
        drops: first?.drops.map(drop => ({ ...drop, id: crypto.randomUUID() })),
      }
      const times = (hours: number) => ({
        starts_at: isoMillis(START + hours * HOUR),
        ends_at: isoMillis(START + (hours + 1) * HOUR),
      })
      expectDone(await store.commands.putCampaign({ ...sixth, content: { ...content, ...times(1) } }))
      expect(await store.commands.publishCampaign(sixth)).toMatchObject({ problem: 'too_many_campaigns' })
      expectDone(await store.commands.putCampaign({ ...sixth, content: times(4) }))
      expectDone(await store.commands.publishCampaign(sixth))
      expect(await store.commands.putCampaign({ ...sixth, content: times(3) })).toMatchObject({
        problem: 'too_many_campaigns',
      })
      for (const { id } of [...running, sixth]) await stop(id, START)
    })

    test('64 claims of a drop at once, beside a report that claims it, are one claim', async () => {
      const viewer = await newViewer()
      const { id, drops } = await world.publish([2], { auto_claim: true })
      const [drop] = drops
      await world.report(viewer, [0], [id])
      const now = START + 3 * MINUTE
      const claim = () =>
        retryWhileUnavailable(() =>
          store.commands.claimDrop({ user_id: viewer, drop_id: drop?.id ?? '', now }),
        )
      const claims = Array.from({ length: 63 }, claim)
      const [, ...answers] = await Promise.all([
        retryWhileUnavailable(() => world.report(viewer, [0, 1], [id], now)),
        ...claims,
      ])
      const last = expectDone(await claim())
      expect(last.entitlement_ids).toHaveLength(3)
      // Those that came before the report are refused.
      for (const answer of answers)
        if ('problem' in answer) expect(answer.details).toEqual([1, 2])
        else expect(answer).toEqual(last)
      const entitlements = await world.entitlements(viewer)
      expect(entitlements.map(each => each.id).sort()).toEqual([...last.entitlement_ids].sort())
      expect(entitlements.every(each => each.fulfillment_status === 'CLAIMED')).toBe(true)
      await stop(id, START)
    })

    test('64 claims by each of 20 viewers through two processes, beside reports that claim, are one claim each', async () => {
      const { id, drops } = await world.publish([2], { auto_claim: true })
      const drop_id = drops[0]?.id ?? ''
      const other = await openStore(place)
      const now = START + 3 * MINUTE
      /** Asks until the report has the second minute. */
      const claim = async (user_id: string, through: Store) => {
        for (;;) {
          const claimed = await retryWhileUnavailable(() =>
            through.commands.claimDrop({ user_id, drop_id, now }),
          )
          if (!('problem' in claimed)) return claimed
          expect(claimed).toMatchObject({ problem: 'drop_not_reached', details: [1, 2] })
        }
      }
      const viewers = await Promise.all(Array.from({ length: 20 }, newViewer))
      for (const viewer of viewers) await world.report(viewer, [0], [id])
      await Promise.all(
        viewers.map(async viewer => {
          const claims = Array.from({ length: 64 }, (_, n) => claim(viewer, n % 2 === 0 ? store : other))
          await retryWhileUnavailable(() => world.report(viewer, [0, 1], [id], now))
          const [first, ...others] = await Promise.all(claims)
          for (const each of others) expect(each).toEqual(first as typeof each)
          const granted = (await world.entitlements(viewer)).map(each => each.id)
          expect(granted.sort()).toEqual([...(first?.entitlement_ids ?? [])].sort())
          expect(granted).toHaveLength(3)
        }),
      )
      await other.close()
      await stop(id, START)
    })

    test('a claim needs the minutes, an open window, and a linked account where that is required', async () => {
      const viewer = await newViewer()
      const client = { id: `studio${engine}`, name: 'Studio', organization_id: ORGANIZATION }
      await store.commands.createClient({ client, secret_hash: null })
      const link = {
        account_link: 'before_claim',
        link_client_id: client.id,
        link_url: 'https://reef.example/link',
      } as const
      const { id, drops } = await world.publish([2], link)
      const claim = (now: number, user_id = viewer) =>
        store.commands.claimDrop({ user_id, drop_id: drops[0]?.id ?? '', now })
      expect(await claim(START)).toMatchObject({ problem: 'drop_not_reached', details: [0, 2] })
      await world.report(viewer, [0, 1], [id])
      expect(await claim(START + HOUR)).toMatchObject({
        problem: 'account_not_linked',
        details: [link.link_url],
      })
      const token = {
        kind: 'user',
        hash: 'h',
        client_id: client.id,
        user_id: viewer,
        scopes: [],
        family: 'f',
        expires_at: isoMillis(START + HOUR),
      } as const
      await store.commands.grantToken({ token, now: isoMillis(START) })
      expect(await claim(START + 5 * HOUR)).toMatchObject({ problem: 'claim_closed' })
      expect(await claim(START + HOUR, '999999')).toMatchObject({ problem: 'not_found' })
      const claimed = expectDone(await claim(START + 5 * HOUR - 1))
      expect(await claim(START + 99 * HOUR)).toEqual(claimed)
      expect(await store.commands.deleteCampaign({ id })).toMatchObject({ problem: 'in_use' })
      expect(await store.commands.deleteClient({ id: client.id })).toMatchObject({ problem: 'in_use' })
      await stop(id, START)
    })

    test('deleting a user deletes minutes, progress and claims; entitlements stay', async () => {
      const viewer = await newViewer()
      const { id, drops } = await world.publish([1])
      await world.report(viewer, [0, 1], [id])
      expectDone(
        await store.commands.claimDrop({ user_id: viewer, drop_id: drops[0]?.id ?? '', now: START + HOUR }),
      )
      await store.commands.deleteUser({ id: viewer, now: START })
      expect(await store.dropProgress.ofViewer(viewer)).toEqual([])
      expect(await store.dropProgress.claim(viewer, drops[0]?.id ?? '')).toBeUndefined()
      expect(await world.entitlements(viewer)).toHaveLength(3)
      for (const table of ['watched_minutes', 'drop_progress', 'drop_claims'])
        expect(await executeIn(place, `select * from ${table} where user_id = '${viewer}'`)).toEqual([])
      await stop(id, START)
    })

    test('claims that come together share a transaction on PostgreSQL; each is answered as if it had been alone', async () => {
      const { id, drops } = await world.publish([1])
      const drop_id = drops[0]?.id ?? ''
      const viewers = await Promise.all(Array.from({ length: 24 }, newViewer))
      const [unready = '', ...ready] = viewers
      for (const viewer of ready) await world.report(viewer, [0], [id])
      const author = (user_id: string) =>
        ({ actor: `user/${user_id}`, operation: 'ClaimDrop', chain: 'user', at: isoMillis(START) }) as const
      const answers = await Promise.all(
        [...viewers, '999999'].map(user_id =>
          store.as(author(user_id)).commands.claimDrop({ user_id, drop_id, now: START + HOUR }),
        ),
      )
      expect(answers[0]).toMatchObject({ problem: 'drop_not_reached', details: [0, 1] })
      expect(answers.at(-1)).toMatchObject({ problem: 'not_found' })
      for (const [n, viewer] of ready.entries())
        expect(expectDone(answers[n + 1])).toMatchObject({ user_id: viewer, drop_id })
      expect(await world.entitlements(unready)).toEqual([])
      const actors = await executeIn(place, `select actor from audit where subject = 'drop/${drop_id}'`)
      expect(actors.map(each => each.actor).sort()).toEqual(ready.map(viewer => `user/${viewer}`).sort())
      expect(await store.audit.verify()).not.toHaveProperty('flaw')
      if (engine === 'postgres') {
        const rows = await executeIn(
          place,
          `select distinct xmin from drop_claims where drop_id = '${drop_id}'`,
        )
        expect(rows.length).toBeLessThan(ready.length / 2)
      }
      await stop(id, START)
    })

    test('a report counts viewers, minutes, reached and claimed drops', async () => {
      const { drops, ...campaign } = await world.publish([1, 3])
      const viewers = [await newViewer(), await newViewer(), await newViewer()]
      for (const [index, viewer] of viewers.entries())
        await world.report(viewer, slotsUpTo(index + 1), [campaign.id])
      const [one = '', three = ''] = drops.map(each => each.id)
      expectDone(
        await store.commands.claimDrop({
          user_id: viewers[2] ?? '',
          drop_id: three,
          now: START + HOUR,
        }),
      )
      const totals = await store.dropProgress.totals({ ...campaign, drops })
      expect(totals).toMatchObject({ viewers: 3, minutes: 6, linked: 0, fulfilled: 0 })
      expect([...totals.reached]).toEqual([
        [one, 3],
        [three, 1],
      ])
      expect([...totals.claimed]).toEqual([
        [one, 0],
        [three, 1],
      ])
      await stop(campaign.id, START)
    })

    test('once an hour, and when a campaign has ended, what is reached is claimed for viewers', async () => {
      const [viewer, other] = [await newViewer(), await newViewer()]
      const campaign = await world.publish([5])
      for (const id of [viewer, other])
        await world.report(id, slotsUpTo(id === viewer ? 5 : 4), [campaign.id])
      const change = { id: campaign.id, content: { auto_claim: true }, now: START + HOUR }
      expectDone(await store.commands.putCampaign(change))
      const look = (now: number) => claimReachedDrops(store, now, () => false)
      expect(await look(START + HOUR)).toBe(1)
      expect(await world.entitlements(viewer)).toHaveLength(3)
      expect(await world.entitlements(other)).toEqual([])
      const drops = campaign.drops.map(drop => ({ ...drop, required_minutes: 4 }))
      expectDone(await store.commands.putCampaign({ ...change, content: { drops } }))
      expect(await look(START + 2 * HOUR - 1)).toBe(0)
      expect(await look(START + 2 * HOUR)).toBe(1)
      const late = await newViewer()
      await store.commands.putCampaign({ ...change, content: { auto_claim: false } })
      await world.report(late, slotsUpTo(4), [campaign.id])
      await store.commands.putCampaign({ ...change, content: { auto_claim: true } })
      await stop(campaign.id, START + 2 * HOUR + 1)
      expect(await look(START + 2 * HOUR + 2)).toBe(1)
      expect(await look(START + 2 * HOUR + 3)).toBe(0)
    })

    test('progress and claims are deleted some time after the end, entitlements stay', async () => {
      const viewer = await newViewer()
      const { id, drops } = await world.publish([1])
      await world.report(viewer, [0, 1], [id])
      const drop_id = drops[0]?.id ?? ''
      expectDone(await store.commands.claimDrop({ user_id: viewer, drop_id, now: START + HOUR }))
      const keep = { videosDays: 0, progressDays: 30, tokensDays: 0, eventsDays: 0, auditDays: 0 }
      const sweepAt = (now: number) =>
        sweepExpired(store, { now, settled: now }, keep, {
          removed: () => undefined,
          wantsToStop: () => false,
        })
      const end = START + 5 * HOUR
      await sweepAt(end + 30 * 24 * HOUR)
      expect(await world.minutes(viewer, id)).toBe(2)
      await sweepAt(end + 30 * 24 * HOUR + 1)
      expect(await world.minutes(viewer, id)).toBe(0)
      expect(await store.dropProgress.claim(viewer, drop_id)).toBeUndefined()
      expect(await world.entitlements(viewer)).toHaveLength(3)
      expect(await store.commands.deleteCampaign({ id })).toBeUndefined()
    })

    test('minutes that are added by hand count, and claim where the campaign does', async () => {
      const viewer = await newViewer()
      const { id } = await world.publish([10], { auto_claim: true })
      const add = { campaign_id: id, user_id: viewer, add: 10, now: START + HOUR }
      expect(await store.commands.addWatchedMinutes(add)).toEqual({
        campaign_id: id,
        user_id: viewer,
        minutes: 10,
      })
      expect(await world.entitlements(viewer)).toHaveLength(3)
      expect(await store.commands.addWatchedMinutes({ ...add, user_id: '999999' })).toMatchObject({
        problem: 'not_found',
      })
      await stop(id, START)
    })
  })
}
