import { expect } from 'bun:test'
import { createPlaybackSession } from '../../../src/contract/playback/create-playback-session.ts'
import { sendHeartbeat } from '../../../src/contract/playback/send-heartbeat.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { latestVideo, newUser, shownStream } from '../control/operator.ts'

const beat = (server: TestServer, session: unknown) => send(server, sendHeartbeat, { body: { session } })

async function sessionFor(server: TestServer, body: object): Promise<string> {
  const answer = await send(server, createPlaybackSession, { body })
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

describeOperation(
  sendHeartbeat,
  {
    valid: async server => ({
      body: { session: await sessionFor(server, { login: server.world.broadcaster.login }) },
    }),
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
      return beat(server, other.mint({ user_id: id, watches: 'live' }, Date.now()).session)
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
