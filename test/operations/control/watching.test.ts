import { expect } from 'bun:test'
import {
  advanceClock,
  listWatching,
  resetWorld,
  saveSnapshot,
  startWatching,
  stopWatching,
} from '../../../src/contract/control/demo.ts'
import { assertDefined } from '../../../src/kit/assert-defined.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { advance, newLiveChannel, newViewer, publishedCampaign } from '../drops/campaigns.ts'
import { asOperator, expectEmpty, newUser } from './operator.ts'

/** A channel of an active campaign with a drop of an hour, and a viewer. */
async function newStage(server: TestServer, more: object = {}) {
  const campaign = await publishedCampaign(server, more)
  const channel = await newLiveChannel(server, campaign.game_id)
  return { campaign, channel, viewer: await newViewer(server) }
}

const pathOf = (user_id: string) => `/control/watching/${user_id}`
const watch = (server: TestServer, user_id: string, body: object) =>
  send(server, startWatching, asOperator(server, { path: pathOf(user_id), body }))
const stop = (server: TestServer, user_id: string) =>
  send(server, stopWatching, asOperator(server, { path: pathOf(user_id) }))
const list = async (server: TestServer) =>
  (await send(server, listWatching, asOperator(server))).body.data as {
    user_id: string
    reason: string | null
  }[]
const freeze = (server: TestServer) => server.control('POST', '/clock', { running: false })
/** Stops the clock at a whole minute: what is no whole number of minutes then counts the same in every run (D-212). */
const freezeAtMinute = async (server: TestServer) => {
  await freeze(server)
  const time = new Date(Math.ceil(server.strand.services.clock.now() / 60_000) * 60_000).toISOString()
  await server.control('POST', '/clock', { time })
}
/** So many simulated viewers of the broadcaster, in place of others. */
const simulate = (server: TestServer, count: number) => {
  const { viewers, timeline } = assertDefined(server.strand.services.demo, 'the controls of the demo')
  const channel_id = server.world.broadcaster.id
  const plans = Array.from({ length: count }, (_, n) => ({ user_id: `5${n}`, channel_id }))
  return timeline.alone(async () => viewers.restart(plans))
}
const minutesOf = async (server: TestServer, { token }: { token: string }, campaign_id: string) => {
  const { body } = await server.call({ path: '/drops/progress', token })
  const found = body.data.find((each: { campaign_id: string }) => each.campaign_id === campaign_id)
  return found?.minutes ?? 0
}

describeOperation(
  startWatching,
  {
    valid: async server => {
      const { channel, viewer } = await newStage(server)
      return asOperator(server, {
        path: pathOf(viewer.id),
        body: { channel_id: channel.id, for_seconds: 60 },
      })
    },
  },
  ({ ok, fails }) => {
    ok('the clock plays what it skips: 59 minutes are not an hour, one more is', async server => {
      await freeze(server)
      const required = { required_minutes: 60, name: 'An hour' }
      const { campaign, channel, viewer } = await newStage(server)
      const drop = { ...campaign.drops[0], ...required }
      const { id } = await publishedCampaign(server, {
        game_id: campaign.game_id,
        drops: [{ ...drop, id: crypto.randomUUID() }],
      })
      const { body } = await watch(server, viewer.id, { channel_id: channel.id })
      const ids = { user_id: viewer.id, channel_id: channel.id }
      expect(body.data).toEqual([{ ...ids, since: expect.any(String), until: null, reason: 'too_early' }])
      const stateOf = async () => {
        const progress = await server.call({ path: '/drops/progress', token: viewer.token })
        return progress.body.data.find((each: { campaign_id: string }) => each.campaign_id === id)?.drops[0]
          .state
      }
      await advance(server, 3540)
      expect([await minutesOf(server, viewer, id), await stateOf()]).toEqual([59, 'earning'])
      await advance(server, 60)
      expect([await minutesOf(server, viewer, id), await stateOf()]).toEqual([60, 'claimable'])
      // Both campaigns of the game count.
      expect(await minutesOf(server, viewer, campaign.id)).toBe(60)
      expect((await list(server)).find(each => each.user_id === viewer.id)?.reason).toBeNull()
      await stop(server, viewer.id)
    })

    ok('a viewer watches one channel at a time, and continues if it is the same', async server => {
      await freeze(server)
      const { campaign, channel, viewer } = await newStage(server)
      const other = await newUser(server)
      await watch(server, viewer.id, { channel_id: channel.id })
      await advance(server, 120)
      const again = await watch(server, viewer.id, { channel_id: channel.id, for_seconds: 60 })
      expect(again.body.data[0].reason).toBeNull()
      await advance(server, 600)
      expect(await minutesOf(server, viewer, campaign.id)).toBe(3)
      const elsewhere = await watch(server, viewer.id, { channel_id: other.id })
      expect(elsewhere.body.data[0]).toMatchObject({ channel_id: other.id, reason: 'offline' })
      expect((await list(server)).filter(each => each.user_id === viewer.id)).toHaveLength(1)
      await advance(server, 600)
      expect(await minutesOf(server, viewer, campaign.id)).toBe(3)
      await stop(server, viewer.id)
    })

    ok('the viewers of the stream are not counted by it', async server => {
      await freeze(server)
      const { channel, viewer } = await newStage(server)
      const count = async () =>
        (await server.call({ path: '/helix/streams', query: { user_id: channel.id } })).body.data[0]
          .viewer_count
      const before = await count()
      await watch(server, viewer.id, { channel_id: channel.id, for_seconds: 300 })
      await advance(server, 300)
      await server.strand.services.heartbeats.report()
      expect(await count()).toBe(before)
    })

    ok('drops are claimed for viewers at the time at which they reach them', async server => {
      await freezeAtMinute(server)
      const { campaign, channel, viewer } = await newStage(server, { auto_claim: true })
      const { body } = await watch(server, viewer.id, { channel_id: channel.id })
      const began = Date.parse(body.data[0].since)
      await advance(server, 7200)
      const claim = await server.call({
        method: 'POST',
        path: '/drops/claims',
        body: { drop_id: campaign.drops[0].id },
        token: viewer.token,
      })
      expect(claim.status).toBe(200)
      expect(Date.parse(claim.body.data[0].claimed_at) - began).toBe(1_800_000)
      await stop(server, viewer.id)
    })

    ok(
      'a campaign that ends on the way counts until its end, and a report is not older than the clock',
      async server => {
        await freezeAtMinute(server)
        const { campaign, channel, viewer } = await newStage(server)
        const reportMinutes = async () =>
          (await server.control('GET', `/campaigns/${campaign.id}/report`))[0].minutes
        expect(await reportMinutes()).toBe(0)
        const now = server.strand.services.clock.now()
        await server.control('PUT', `/campaigns/${campaign.id}`, {
          ends_at: new Date(now + 20 * 60_000).toISOString(),
        })
        await watch(server, viewer.id, { channel_id: channel.id })
        await advance(server, 7200)
        expect([await minutesOf(server, viewer, campaign.id), await reportMinutes()]).toEqual([19, 19])
        expect((await list(server)).find(each => each.user_id === viewer.id)?.reason).toBe('no_campaign')
        await stop(server, viewer.id)
      },
    )

    fails('not_found', 'when there is no such viewer', async server =>
      watch(server, '999999999', { channel_id: server.world.broadcaster.id }),
    )
    fails('unknown_reference', 'when there is no such channel', async server =>
      watch(server, server.world.viewer.id, { channel_id: '999999999' }),
    )
    fails('refused_reference', 'when 1000 watch already', async server => {
      const channel_id = server.world.broadcaster.id
      await simulate(server, 1000)
      const answer = await watch(server, server.world.viewer.id, { channel_id })
      await simulate(server, 0)
      return answer
    })
    for (const body of [
      {},
      { channel_id: 'x' },
      { channel_id: '1', for_seconds: 0 },
      { channel_id: '1', user: '1' },
    ])
      fails(
        'channel_id' in body ? 'malformed_parameter' : 'missing_parameter',
        `when the body is ${JSON.stringify(body)}`,
        server => watch(server, server.world.viewer.id, body),
      )
  },
)

describeOperation(
  stopWatching,
  { valid: server => asOperator(server, { path: pathOf(server.world.viewer.id) }) },
  ({ ok }) => {
    ok('what was watched until then counts, and nothing after', async server => {
      await freeze(server)
      const { campaign, channel, viewer } = await newStage(server)
      await watch(server, viewer.id, { channel_id: channel.id })
      await advance(server, 300)
      expectEmpty(await stop(server, viewer.id))
      expectEmpty(await stop(server, viewer.id))
      await advance(server, 3600)
      expect(await minutesOf(server, viewer, campaign.id)).toBe(5)
    })
  },
)

describeOperation(listWatching, { valid: server => asOperator(server) }, ({ ok }) => {
  ok('lists who watches, until the time is over or the demo is reset', async server => {
    await freeze(server)
    const { channel, viewer } = await newStage(server)
    const [{ now }] = await server.control('GET', '/clock')
    await watch(server, viewer.id, { channel_id: channel.id, for_seconds: 60 })
    expect(await list(server)).toEqual([
      expect.objectContaining({
        user_id: viewer.id,
        since: now,
        until: new Date(Date.parse(now) + 60_000).toISOString(),
      }),
    ])
    await advance(server, 60)
    expect(await list(server)).toEqual([])
    await watch(server, viewer.id, { channel_id: channel.id })
    await server.control('POST', '/reset', {})
    expect(await list(server)).toEqual([])
  })
})

describeOperation(
  advanceClock,
  { valid: server => asOperator(server, { body: { advance_seconds: 60 } }), server: {} },
  ({ ok, fails }) => {
    const move = (server: TestServer, body: object) =>
      send(server, advanceClock, asOperator(server, { body }))

    ok('30 days with a viewer are played, to the minute', async server => {
      await freeze(server)
      const days = server.engine === 'sqlite' ? 30 : 3
      const ends = server.strand.services.clock.now() + 60 * 86_400_000
      const { campaign, channel, viewer } = await newStage(server, { ends_at: new Date(ends).toISOString() })
      await watch(server, viewer.id, { channel_id: channel.id })
      expect((await move(server, { advance_seconds: days * 86_400 })).status).toBe(200)
      // The token of the viewer has expired.
      const [{ minutes }] = await server.control('GET', `/campaigns/${campaign.id}/report`)
      expect(minutes).toBe(days * 1440)
      await stop(server, viewer.id)
    })
    ok('a reset forgets what was watched', async server => {
      await freeze(server)
      const { campaign, channel, viewer } = await newStage(server)
      await watch(server, viewer.id, { channel_id: channel.id })
      await send(server, saveSnapshot, asOperator(server))
      for (let turn = 0; turn < 2; turn++) {
        await advance(server, 600)
        expect(await minutesOf(server, viewer, campaign.id)).toBe(10)
        await send(server, resetWorld, asOperator(server, { body: {} }))
      }
      await send(server, resetWorld, asOperator(server, { body: { to: 'start' } }))
    })
    ok('a clock that runs is moved by as much, and runs on', async server => {
      await server.control('POST', '/clock', { running: true })
      const { campaign, channel, viewer } = await newStage(server)
      await watch(server, viewer.id, { channel_id: channel.id })
      const [{ now }] = await server.control('GET', '/clock')
      const [after] = (await move(server, { advance_seconds: 1800 })).body.data
      expect(after.running).toBe(true)
      expect(Date.parse(after.now) - Date.parse(now)).toBeWithin(1_800_000, 1_860_000)
      expect(await minutesOf(server, viewer, campaign.id)).toBe(30)
      await stop(server, viewer.id)
    })
    for (const [count, days] of [
      [100, 30],
      [1, 32],
    ] as const)
      fails(
        'refused_reference',
        `when ${count} viewers would watch for ${days} days; the clock stays`,
        async server => {
          const { clock } = server.strand.services.demo ?? {}
          clock?.setRunning(false)
          await simulate(server, count)
          const before = clock?.now()
          const answer = await move(server, { advance_seconds: days * 86_400, running: true })
          expect(answer.body.message).toContain('at most 31 days with at most 200000 heartbeats')
          expect([clock?.now(), clock?.running]).toEqual([before, false])
          await simulate(server, 0)
          expect((await move(server, { advance_seconds: days * 86_400 })).status).toBe(200)
          return answer
        },
      )
    fails('none_given', 'when nothing is asked for', server => move(server, {}))
    fails('malformed_parameter', 'when the time is another', server => move(server, { advance_seconds: '1' }))
  },
)
