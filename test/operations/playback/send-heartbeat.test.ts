import { expect } from 'bun:test'
import { createPlaybackSession } from '../../../src/contract/playback/create-playback-session.ts'
import { sendHeartbeat } from '../../../src/contract/playback/send-heartbeat.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { expectEmpty, latestVideo, newUser, shownStream, tokenOf } from '../control/operator.ts'
import { newGame, newLiveChannel, newViewer, publishedCampaign } from '../drops/campaigns.ts'

const beat = (server: TestServer, session: unknown) => send(server, sendHeartbeat, { body: { session } })

async function sessionFor(server: TestServer, body: object, token?: string): Promise<string> {
  const answer = await send(server, createPlaybackSession, { body, ...(token && { token }) })
  const { session } = answer.body.data[0]
  // Neither store nor log has one: it lets others pass for its viewer.
  server.canaries.add(session)
  return session
}

async function newLive(server: TestServer): Promise<{ id: string; login: string }> {
  const user = await newUser(server)
  await server.control('PUT', `/channels/${user.id}/stream`, {})
  return user
}

const advance = (server: TestServer, advance_seconds: number) =>
  server.control('POST', '/clock', { advance_seconds })

/** Waits for the viewer count; every node reports what it heard of every few seconds. */
async function expectViewers(server: TestServer, user_id: string, expected: number | undefined) {
  await server.strand.services.heartbeats.report()
  await server.settle()
  const deadline = performance.now() + 15_000
  const shown = async () => (await shownStream(server, user_id))?.viewer_count
  let count = await shown()
  for (; count !== expected && performance.now() < deadline; count = await shown()) await Bun.sleep(50)
  expect(count).toBe(expected)
}

/** A viewer, and a live channel with a campaign whose drop takes so many minutes. */
async function watching(server: TestServer, minutes: number) {
  await server.control('PATCH', `/clients/${server.world.client.id}`, { counts_watching: true })
  const campaign = await publishedCampaign(server)
  const drops = [{ ...campaign.drops[0], required_minutes: minutes }]
  await server.control('PUT', `/campaigns/${campaign.id}`, { drops })
  const channel = await newLiveChannel(server, campaign.game_id)
  return { campaign, channel, viewer: await newViewer(server) }
}

const claim = (server: TestServer, campaign: { drops: { id: string }[] }, token: string) =>
  server.call({ method: 'POST', path: '/drops/claims', body: { drop_id: campaign.drops[0]?.id }, token })

describeOperation(
  sendHeartbeat,
  {
    valid: async server => {
      await server.control('PATCH', `/clients/${server.world.client.id}`, { counts_watching: true })
      const { broadcaster, viewer } = server.world
      return { body: { session: await sessionFor(server, { login: broadcaster.login }, viewer.token) } }
    },
  },
  ({ ok, fails }) => {
    ok('each session counts once, until 75 s after its last heartbeat', async server => {
      const { id, login } = await newLive(server)
      const [first, second] = [await sessionFor(server, { login }), await sessionFor(server, { login })]
      for (const session of [first, second, first, first])
        expect((await beat(server, session)).status).toBe(204)
      await expectViewers(server, id, 2)
      await advance(server, 60)
      await beat(server, first)
      await expectViewers(server, id, 2)
      await advance(server, 20)
      await expectViewers(server, id, 1)
      await advance(server, 76)
      await expectViewers(server, id, 0)
      await beat(server, second)
      await expectViewers(server, id, 1)
      await advance(server, 76)
      await expectViewers(server, id, 0)
    })

    ok('is counted without being asked to, within seconds', async server => {
      const [gone, come] = [await newLive(server), await newLive(server)]
      await beat(server, await sessionFor(server, { login: gone.login }))
      await expectViewers(server, gone.id, 1)
      await advance(server, 76)
      await beat(server, await sessionFor(server, { login: come.login }))
      for (const [{ id }, expected] of [
        [come, 1],
        [gone, 0],
      ] as const)
        while ((await shownStream(server, id)).viewer_count !== expected) await Bun.sleep(50)
    })

    ok('of a video, or of a channel that is not live, counts no viewer', async server => {
      const { id, login } = await newLive(server)
      const video_id = await latestVideo(server, id)
      expect((await beat(server, await sessionFor(server, { video_id }))).status).toBe(204)
      await expectViewers(server, id, 0)
      await server.control('DELETE', `/channels/${id}/stream`)
      expect((await beat(server, await sessionFor(server, { login }))).status).toBe(204)
      await expectViewers(server, id, undefined)
    })

    ok('leaves the counts of other channels as they are', async server => {
      const { id } = await newLive(server)
      await server.control('POST', '/viewers', { counts: { [id]: 42 } })
      const { login } = await newLive(server)
      await beat(server, await sessionFor(server, { login }))
      await expectViewers(server, id, 42)
      await advance(server, 76)
      await expectViewers(server, id, 42)
    })

    ok('is the count of a broadcast of an embedded media server, too (D-259)', async server => {
      const user = await newUser(server)
      const { store, clock } = server.strand.services
      const session = { adapter: 'embedded', server: 'elsewhere', session: user.id }
      const ids = { user_id: user.id, stream_id: `9${user.id}`, video_id: `9${user.id}`, watch_url: null }
      await store.commands.openSession({ ...session, ...ids, now: clock.now() })
      await store.commands.reportViewers({ counts: [[user.id, 7]] })
      await beat(server, await sessionFor(server, { login: user.login }))
      await expectViewers(server, user.id, 1)
    })

    ok('there is no answer without a viewer, and for a video: 204', async server => {
      const { broadcaster, viewer } = server.world
      const video_id = await latestVideo(server, broadcaster.id)
      for (const session of [
        await sessionFor(server, { login: broadcaster.login }),
        await sessionFor(server, { video_id }, viewer.token),
      ])
        expectEmpty(await beat(server, session))
    })

    ok(
      'each minute that is watched counts once, whatever the number of sessions, and reaches a drop',
      async server => {
        const { campaign, channel, viewer } = await watching(server, 3)
        const { login } = channel
        const sessions = [
          await sessionFor(server, { login }, viewer.token),
          await sessionFor(server, { login }, viewer.token),
        ]
        const seen: unknown[] = []
        for (let beats = 0; beats <= 6; beats++) {
          if (beats > 0) await advance(server, 30)
          const answers = await Promise.all([...sessions, ...sessions].map(session => beat(server, session)))
          const { data, reason } = answers.at(-1)?.body ?? {}
          seen.push([reason, data[0].minutes, data[0].claimable.length])
        }
        // From the first to the last heartbeat three minutes have passed.
        expect(seen.at(0)).toEqual(['too_early', 0, 0])
        expect(seen.at(1)).toEqual(['too_early', 0, 0])
        expect(seen.at(-1)).toEqual([undefined, 3, 1])
        const claimed = await claim(server, campaign, viewer.token)
        expect(claimed.status).toBe(200)
        const [session = ''] = sessions
        await advance(server, 30)
        expect((await beat(server, session)).body).toEqual({
          data: [{ campaign_id: campaign.id, minutes: 3, claimable: [] }],
          reason: 'finished',
        })
      },
    )

    ok('minutes are written when a viewer stops, and by the end of the process', async server => {
      const { campaign, channel, viewer } = await watching(server, 10)
      const session = await sessionFor(server, { login: channel.login }, viewer.token)
      for (const seconds of [60, 60, 60]) {
        await advance(server, seconds)
        await beat(server, session)
      }
      await server.strand.services.watchTime.close()
      const minutes = async () =>
        (await server.strand.services.store.dropProgress.ofViewer(viewer.id, [campaign.id]))[0]?.minutes
      expect(await minutes()).toBe(3)
      await advance(server, 60)
      await beat(server, session)
      await advance(server, 76)
      await server.strand.services.watchTime.flush()
      expect(await minutes()).toBe(4)
      expect(server.strand.services.watchTime.findViewer(viewer.id)).toBeUndefined()
    })

    ok('a campaign that is stopped counts no more, and one that is continued does', async server => {
      const { campaign, channel, viewer } = await watching(server, 10)
      const session = await sessionFor(server, { login: channel.login }, viewer.token)
      await advance(server, 60)
      expect((await beat(server, session)).body.data[0].minutes).toBe(1)
      await server.control('POST', `/campaigns/${campaign.id}/stop`)
      await advance(server, 60)
      expect((await beat(server, session)).body).toEqual({ data: [], reason: 'no_campaign' })
      await server.control('POST', `/campaigns/${campaign.id}/publish`)
      await advance(server, 60)
      expect((await beat(server, session)).body.data[0].minutes).toBe(2)
    })

    ok('the answer has the reason why nothing counts', async server => {
      const { campaign, channel, viewer } = await watching(server, 10)
      const reason = async (login: string, token = viewer.token, wait = 60) => {
        const session = await sessionFor(server, { login }, token)
        await advance(server, wait)
        return (await beat(server, session)).body.reason
      }
      expect(await reason(channel.login)).toBeUndefined()
      const other = await newLiveChannel(server, campaign.game_id)
      // The slot of the heartbeat before.
      const elsewhere = await sessionFor(server, { login: other.login }, viewer.token)
      await advance(server, 60)
      const here = await sessionFor(server, { login: channel.login }, viewer.token)
      expect((await beat(server, elsewhere)).body.reason).toBeUndefined()
      expect((await beat(server, here)).body.reason).toBe('too_early')
      await advance(server, 60)
      expect((await beat(server, here)).body.reason).toBeUndefined()
      expect((await beat(server, elsewhere)).body.reason).toBe('counts_on_another_channel')
      expect(await reason((await newLiveChannel(server, (await newGame(server)).id)).login)).toBe(
        'no_campaign',
      )
      expect(await reason(channel.login, await tokenOf(server, channel.id))).toBe('own_channel')
      await server.control('PUT', `/campaigns/${campaign.id}`, {
        channels: 'listed',
        channel_ids: [other.id],
      })
      expect(await reason(channel.login)).toBe('channel_not_listed')
      await server.control('PATCH', `/channels/${other.id}`, { game_id: (await newGame(server)).id })
      expect(await reason(other.login)).toBe('not_playing_the_game')
      await server.control('DELETE', `/channels/${channel.id}/stream`)
      expect(await reason(channel.login)).toBe('offline')
    })

    ok('of one network, 100 viewers earn at a time', async server => {
      const { campaign, channel } = await watching(server, 10)
      const { watchTime, clock } = server.strand.services
      const began = clock.now() - 60_000
      const reasons: unknown[] = []
      for (let number = 0; number < 101; number++) {
        const session = {
          id: 'x',
          user_id: channel.id,
          watches: 'live',
          began,
          viewer: `88${number}`,
        } as const
        reasons.push((await watchTime.beat(session, '198.51.100.7')).reason)
      }
      expect(reasons.slice(0, 100)).toEqual(Array(100).fill(undefined))
      expect(reasons[100]).toBe('network_limit')
      const simulated = { id: 'x', user_id: channel.id, watches: 'live', began, viewer: '9901' } as const
      expect((await watchTime.beat(simulated, undefined)).reason).toBeUndefined()
      await server.control('POST', `/campaigns/${campaign.id}/stop`)
    })

    for (const [what, alter] of [
      ['an altered session', (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`],
      ['a shortened session', (text: string) => text.slice(0, -4)],
      ['a session with characters behind it', (text: string) => `${text}=`],
      ['an invented session', () => Buffer.alloc(80, 7).toString('base64url')],
      ['a word', () => 'x'],
      ['text that is not base64url', () => '🦦🦦🦦'],
    ] as const)
      fails('invalid_session', `with ${what}`, async server =>
        beat(server, alter(await sessionFor(server, { login: server.world.broadcaster.login }))),
      )
    fails('invalid_session', 'with the session of another server', async server => {
      const { PlaybackSessions } = await import('../../../src/auth/playback-sessions.ts')
      const { KeyRing } = await import('../../../src/kit/crypto/key-ring.ts')
      const other = new PlaybackSessions(new KeyRing([{ id: 'k', bytes: new Uint8Array(32) }]))
      const { id } = server.world.broadcaster
      return beat(server, other.mint({ user_id: id, watches: 'live', viewer: undefined }, Date.now()).session)
    })
    fails('invalid_session', 'with an expired session', async server => {
      const session = await sessionFor(server, { login: server.world.broadcaster.login })
      await advance(server, 12 * 3600 + 1)
      return beat(server, session)
    })
    fails('missing_parameter', 'without a session', server => send(server, sendHeartbeat, { body: {} }))
    for (const session of [7, null, '', 'x'.repeat(501), { a: 1 }])
      fails('malformed_parameter', `when the session is ${JSON.stringify(session).slice(0, 20)}`, server =>
        beat(server, session),
      )
  },
)
