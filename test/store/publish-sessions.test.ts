import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isRefusal } from '../../src/contract/problem.ts'
import { DISMISSED_MILLISECONDS, SILENT_MILLISECONDS } from '../../src/domain/publish-session.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1000
const GRACE = 60

for (const engine of engines) {
  describe(`publish sessions on ${engine}`, () => {
    let store: Store
    let close: () => Promise<void>
    let databaseUrl: string | undefined
    let users = 0
    beforeAll(async () => {
      ;({ store, close, databaseUrl } = await openTestStore(engine))
    })
    afterAll(() => close())

    const newChannel = async (): Promise<string> => {
      users += 1
      const id = String(1000 + users)
      await store.commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: START })
      return id
    }
    const idOf = (session: string) => ({ adapter: 'embedded', server: 'a', session })
    let streams = 0
    const open = (user_id: string, session: string, now: number) => {
      streams += 1
      const [stream_id, video_id] = [`4${streams}`, `2${streams}`]
      return store.commands.openSession({
        ...idOf(session),
        user_id,
        stream_id,
        video_id,
        watch_url: null,
        now,
      })
    }
    const stop = (session: string, now: number) => store.commands.closeSession({ ...idOf(session), now })
    const lapse = async (now: number) => {
      const due = { now, graceSeconds: GRACE }
      while (await store.streams.hasSilentBroadcasts(due)) await store.commands.endSilentBroadcasts(due)
    }
    const isLive = async (user_id: string) => (await store.streams.of(user_id)) !== undefined

    test('a publisher makes the channel live, and its end takes the channel off the air after the grace period', async () => {
      const channel = await newChannel()
      const opened = await open(channel, 'one', START)
      expect(opened).toMatchObject({ started_at: '2026-03-01T12:00:00Z', replaced: null })
      expect(await isLive(channel)).toBeTrue()
      await stop('one', START + 10 * SECOND)
      await lapse(START + (10 + GRACE) * SECOND - 1)
      expect(await isLive(channel)).toBeTrue()
      await lapse(START + (10 + GRACE) * SECOND)
      expect(await isLive(channel)).toBeFalse()
      const [video] = (await store.videos.page({ user_id: channel }, { first: 5, direction: 'forward' })).rows
      expect(video).toMatchObject({ created_at: '2026-03-01T12:00:00Z', ended_at: '2026-03-01T12:00:10Z' })
    })

    test('a stream that an operator starts within the grace period stays', async () => {
      const channel = await newChannel()
      await open(channel, 'left', START)
      await stop('left', START + 10 * SECOND)
      const started_at = '2026-03-01T12:00:20Z'
      const ids = { stream_id: '4999', video_id: '2999', started_at }
      await store.commands.startStream({ user_id: channel, ...ids })
      await lapse(START + 500 * SECOND)
      expect(await isLive(channel)).toBeTrue()
    })

    test('a marker of the grace period lies at the end of the video', async () => {
      const channel = await newChannel()
      await open(channel, 'marked', START)
      const mark = (second: number) =>
        store.commands.createMarker({
          marker_id: `${second}`.padStart(32, '0'),
          broadcaster_id: channel,
          caller: { client_id: 'client', user_id: channel },
          description: '',
          now: START + second * SECOND,
        })
      const early = await mark(5)
      expect(early).toMatchObject({ position_seconds: 5 })
      await stop('marked', START + 10 * SECOND)
      expect(await mark(30)).toMatchObject({ position_seconds: 30 })
      await lapse(START + (10 + GRACE) * SECOND)
      const [video] = (await store.videos.page({ user_id: channel }, { first: 5, direction: 'forward' })).rows
      const { rows } = await store.markers.ofVideo(video?.id ?? '', { first: 10, direction: 'forward' })
      expect(rows.map(row => row.position_seconds).sort((a, b) => a - b)).toEqual([5, 10])
    })

    test('a publisher that returns within the grace period continues the stream and its video', async () => {
      const channel = await newChannel()
      const first = await open(channel, 'first', START)
      await stop('first', START + 10 * SECOND)
      const second = await open(channel, 'second', START + 30 * SECOND)
      expect(second).toEqual({ ...first, replaced: null })
      await store.commands.keepSessionsAlive({ ...idOf(''), sessions: ['second'], now: START + 200 * SECOND })
      await lapse(START + 200 * SECOND)
      expect(await isLive(channel)).toBeTrue()
    })

    test('an event that arrives twice or late changes nothing', async () => {
      const channel = await newChannel()
      const first = await open(channel, 'again', START)
      expect(await open(channel, 'again', START + SECOND)).toEqual(first)
      await stop('again', START + 2 * SECOND)
      await stop('again', START + 3 * SECOND)
      expect(await open(channel, 'again', START + 4 * SECOND)).toMatchObject({ problem: 'session_ended' })
      await lapse(START + (2 + GRACE) * SECOND)
      expect(await isLive(channel)).toBeFalse()
    })

    test('a second publisher is refused, and its end does not stop the first', async () => {
      const channel = await newChannel()
      await open(channel, 'mine', START)
      expect(await open(channel, 'other', START + SECOND)).toMatchObject({ problem: 'channel_busy' })
      await stop('other', START + 2 * SECOND)
      await store.commands.keepSessionsAlive({ ...idOf(''), sessions: ['mine'], now: START + 300 * SECOND })
      await lapse(START + 300 * SECOND)
      expect(await isLive(channel)).toBeTrue()
    })

    test('a second publisher takes over from one that is silent', async () => {
      const channel = await newChannel()
      const first = await open(channel, 'lost', START)
      const second = await open(channel, 'back', START + SILENT_MILLISECONDS)
      expect(second).toEqual({ ...first, replaced: idOf('lost') })
      await stop('lost', START + SILENT_MILLISECONDS + SECOND)
      await lapse(START + SILENT_MILLISECONDS + SECOND)
      expect(await isLive(channel)).toBeTrue()
    })

    test('a session without a sign of life ended when it was last alive', async () => {
      const channel = await newChannel()
      await open(channel, 'dead', START)
      await lapse(START + GRACE * SECOND)
      expect(await isLive(channel)).toBeFalse()
      const [video] = (await store.videos.page({ user_id: channel }, { first: 5, direction: 'forward' })).rows
      expect(video).toMatchObject({ ended_at: '2026-03-01T12:00:00Z' })
    })

    test('the sessions of a server that it no longer has are ended', async () => {
      const [kept, gone] = [await newChannel(), await newChannel()]
      await open(kept, 'kept', START)
      await open(gone, 'gone', START)
      expect(await store.commands.closeOtherSessions({ ...idOf(''), sessions: ['kept'] })).toBeGreaterThan(0)
      await store.commands.keepSessionsAlive({
        ...idOf(''),
        sessions: ['kept', 'gone'],
        now: START + 90 * SECOND,
      })
      await lapse(START + 90 * SECOND)
      expect([await isLive(kept), await isLive(gone)]).toEqual([true, false])
    })

    test('an id that a restarted media server uses for another channel ends the session that had it', async () => {
      const [first, second] = [await newChannel(), await newChannel()]
      await open(first, 'reused', START)
      expect(await open(second, 'reused', START + SECOND)).toMatchObject({ replaced: null })
      expect((await store.mediaServers.liveSessionOf(second))?.session).toBe('reused')
      expect(await store.mediaServers.liveSessionOf(first)).toBeUndefined()
      await store.commands.keepSessionsAlive({
        ...idOf(''),
        sessions: ['reused'],
        now: START + 90 * SECOND,
      })
      await lapse(START + 90 * SECOND)
      expect([await isLive(first), await isLive(second)]).toEqual([false, true])
    })

    test('sessions that started after the limit are not ended with the others', async () => {
      const [old, fresh] = [await newChannel(), await newChannel()]
      await open(old, 'old', START)
      await open(fresh, 'fresh', START + 10 * SECOND)
      const limits = { sessions: [], started_before: START + 5 * SECOND }
      await store.commands.closeOtherSessions({ ...idOf(''), ...limits })
      expect(await store.mediaServers.liveSessionOf(old)).toBeUndefined()
      expect((await store.mediaServers.liveSessionOf(fresh))?.session).toBe('fresh')
    })

    test('sessions that were alive after the server was observed are not ended with the others', async () => {
      const [gone, alive] = [await newChannel(), await newChannel()]
      await open(gone, 'unseen', START)
      await open(alive, 'seen later', START)
      const now = START + 30 * SECOND
      await store.commands.keepSessionsAlive({ ...idOf(''), sessions: ['seen later'], now })
      const observed = { sessions: [], started_before: now, observed_at: START + 10 * SECOND }
      await store.commands.closeOtherSessions({ ...idOf(''), ...observed })
      expect(await store.mediaServers.liveSessionOf(gone)).toBeUndefined()
      expect((await store.mediaServers.liveSessionOf(alive))?.session).toBe('seen later')
    })

    test.skipIf(engine === 'sqlite')(
      'a publisher that returns while another node ends its stream keeps the stream',
      async () => {
        const channel = await newChannel()
        await open(channel, 'left', START)
        await stop('left', START + SECOND)
        const now = START + (GRACE + 2) * SECOND
        const due = { now, graceSeconds: GRACE, listensSince: now }
        const other = new SQL(databaseUrl ?? '', { max: 1 })
        let ending: Promise<unknown> = Promise.resolve()
        // The returning publisher has the row first; the other node waits for it, having read it before.
        await other.begin(async tx => {
          await tx.unsafe(`update streams set stopped_at = null where user_id = '${channel}'`)
          ending = store.commands.endSilentBroadcasts(due)
          for (let waiting = 0; waiting === 0; ) {
            const [row] = await tx.unsafe('select count(*)::int as waiting from pg_locks where not granted')
            waiting = row.waiting
          }
        })
        await ending
        await other.close()
        expect(await isLive(channel)).toBeTrue()
      },
    )

    test('silence means nothing to a process that has just started', async () => {
      const channel = await newChannel()
      await open(channel, 'unheard', START)
      const now = START + 300 * SECOND
      const due = { now, graceSeconds: GRACE, listensSince: now - SECOND }
      while (await store.streams.hasSilentBroadcasts(due)) await store.commands.endSilentBroadcasts(due)
      expect(await isLive(channel)).toBeTrue()
      await lapse(now)
      expect(await isLive(channel)).toBeFalse()
    })

    test('a publisher that was kicked or whose stream was ended has to be disconnected', async () => {
      const external = (session: string) => ({ adapter: 'srs', server: 'edge', session })
      const ids = (n: number) => ({ stream_id: `47${n}`, video_id: `27${n}`, watch_url: null, now: START })
      await store.commands.putMediaServer({
        name: 'edge',
        adapter: 'srs',
        api_url: 'http://127.0.0.1:1985',
        secret_hash: '',
        created_at: '2026-03-01T12:00:00.000Z',
      })
      const [kicked, ended] = [await newChannel(), await newChannel()]
      await store.commands.openSession({ ...external('k'), user_id: kicked, ...ids(1) })
      await store.commands.openSession({ ...external('e'), user_id: ended, ...ids(2) })
      await store.commands.kickPublisher({ user_id: kicked, now: START + SECOND })
      await store.commands.endStream({ user_id: ended, now: START + 2 * SECOND })
      expect([await isLive(kicked), await isLive(ended)]).toEqual([true, false])
      const dismissed = await store.mediaServers.dismissed(['srs'])
      expect(dismissed).toEqual([
        { ...external('k'), login: `user${kicked}` },
        { ...external('e'), login: `user${ended}` },
      ])
      for (const session of ['k', 'e']) await store.commands.settleDismissal(external(session))
      expect(await store.mediaServers.dismissed(['srs'])).toEqual([])
    })

    test('a publisher that has to be disconnected is remembered as long as its media server reports it', async () => {
      const channel = await newChannel()
      const external = { adapter: 'mediamtx', server: 'one', session: 'x' }
      const ids = { stream_id: '48888', video_id: '28888', watch_url: null }
      await store.commands.openSession({ ...external, ...ids, user_id: channel, now: START })
      await store.commands.endStream({ user_id: channel, now: START + SECOND })
      let now = START
      for (let polls = 0; polls < 3; polls++) {
        now += 300 * SECOND
        await store.commands.keepSessionsAlive({ ...external, sessions: ['x'], now })
        await lapse(now + 60 * SECOND)
        expect(await store.mediaServers.session(external)).toMatchObject({ dismissed_at: expect.any(String) })
      }
      await lapse(now + DISMISSED_MILLISECONDS + SECOND)
      expect(await store.mediaServers.session(external)).toBeUndefined()
    })

    test('a session is recorded once, and not any more when its id starts again', async () => {
      const channel = await newChannel()
      const unrecorded = async () =>
        (await store.mediaServers.unrecordedSessionsOf('embedded', 'a')).find(
          ({ session }) => session === 'taped',
        )
      const opened = await open(channel, 'taped', START)
      expect(await unrecorded()).toEqual({
        session: 'taped',
        alive_at: '2026-03-01T12:00:00.000Z',
        ended_at: null,
        video_id: isRefusal(opened) ? '' : opened.video_id,
        stream_started_at: '2026-03-01T12:00:00Z',
      })
      await store.commands.noteRecorded({ ...idOf('unknown'), now: START })
      await stop('taped', START + SECOND)
      expect(await unrecorded()).toBeDefined()
      await store.commands.noteRecorded({ ...idOf('taped'), now: START + 2 * SECOND })
      expect(await unrecorded()).toBeUndefined()
      await open(channel, 'taped', START + 20 * SECOND)
      expect(await unrecorded()).toBeDefined()
    })

    test('a stream that an operator started stays live without a publisher', async () => {
      const channel = await newChannel()
      const started = { stream_id: '49999', video_id: '29999', started_at: '2026-03-01T12:00:00Z' }
      await store.commands.startStream({ user_id: channel, ...started })
      await lapse(START + 3600 * SECOND)
      expect(await isLive(channel)).toBeTrue()
    })
  })
}
