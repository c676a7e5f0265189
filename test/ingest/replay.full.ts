/**
 * Callbacks of media servers get lost, arrive twice and out of order. Whatever arrives, after a pass of the reconciler the
 * store agrees with the media server.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { hashToken } from '../../src/auth/tokens.ts'
import { LATE_MILLISECONDS } from '../../src/domain/publish-session.ts'
import { IngestHooks } from '../../src/ingest/hooks.ts'
import { MayPublish } from '../../src/ingest/may-publish.ts'
import { MediaServers } from '../../src/ingest/media-servers.ts'
import { Reconciler } from '../../src/ingest/reconcile.ts'
import { ViewerSessions } from '../../src/ingest/viewer-sessions.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import type { Store } from '../../src/store/store.ts'
import { runs } from '../support/properties.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'
import { FakeNginx } from './media-api.ts'

const CHANNELS = 3
const GRACE = 60
const START = Date.parse('2026-03-01T12:00:00.000Z')

interface Delivery {
  readonly body: string
  readonly order: number
}

for (const engine of engines) {
  describe(`replayed callbacks on ${engine}`, () => {
    const nginx = new FakeNginx()
    const keys: string[] = []
    let store: Store
    let close: () => Promise<void>
    let now = START
    let clients = 0
    let hooks: IngestHooks
    let reconciler: Reconciler
    let servers: MediaServers
    const clock = { now: () => now }
    const log = createLog({ level: 'error', readable: false, write: () => undefined })

    const restart = async (used = store) => {
      const services = { store: used, clock, log, streamKeys }
      servers = new MediaServers(services)
      const viewers = new ViewerSessions()
      reconciler = new Reconciler({ ...services, servers, viewers, graceSeconds: GRACE, holder: 'node' })
      hooks = new IngestHooks({
        ...services,
        servers,
        viewers,
        reconciler,
        mayPublish: new MayPublish(services),
      })
      await servers.refresh()
    }
    let streamKeys: StreamKeys
    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
      streamKeys = new StreamKeys(new KeyRing([{ id: 'one', bytes: Buffer.alloc(32, 7) }]))
      for (let channel = 0; channel < CHANNELS; channel++) {
        const id = String(1000 + channel)
        const { key, stored } = streamKeys.mint(id, 1)
        keys.push(key)
        await store.commands.putUser({ id, login: `user${channel}`, stream_key: stored, now })
      }
      await store.commands.putMediaServer({
        name: 'edge',
        adapter: 'nginx-rtmp',
        api_url: nginx.url,
        secret_hash: hashToken('secret'),
        created_at: '2026-03-01T12:00:00.000Z',
      })
      await restart()
    })
    afterAll(async () => {
      await nginx.stop()
      await close()
    })

    const deliver = async (body: string) => {
      const server = await hooks.findServer({
        adapter: 'nginx-rtmp',
        server: 'edge',
        secret: 'secret',
        address: '',
      })
      if (server === undefined) throw new Error('the secret is right')
      return hooks.answer(server, { form: new URLSearchParams(body) })
    }
    const lapse = async () => {
      const due = { now, graceSeconds: GRACE }
      while (await store.streams.hasSilentBroadcasts(due)) await store.commands.endSilentBroadcasts(due)
    }
    const stateOf = async (channel: number) => {
      const user_id = String(1000 + channel)
      const [stream, session] = [
        await store.streams.of(user_id),
        await store.mediaServers.liveSessionOf(user_id),
      ]
      return { stream_id: stream?.id, session: session?.session }
    }

    const delivered = fc.record({
      copies: fc.constantFrom(0, 1, 1, 1, 2),
      order: fc.integer({ min: 0, max: 1000 }),
    })
    const broadcasts = fc.array(
      fc.record({
        channel: fc.integer({ min: 0, max: CHANNELS - 1 }),
        hasEnded: fc.boolean(),
        start: delivered,
        end: delivered,
      }),
      { minLength: 1, maxLength: 6 },
    )

    test('property: lost, doubled and shuffled callbacks lead to the state of the media server', async () => {
      await fc.assert(
        fc.asyncProperty(broadcasts, fc.boolean(), async (plan, restarts) => {
          // Long enough after the run before: all of it has lapsed.
          now += 3_600_000
          nginx.publishers = []
          await reconciler.reconcileAll()
          await lapse()
          const queue: Delivery[] = []
          const running = new Map<number, string>()
          for (const { channel, hasEnded, start, end } of plan) {
            const session = String(++clients)
            const event = (call: string) =>
              `app=live&addr=192.0.2.7&clientid=${session}&call=${call}&name=${keys[channel]}`
            for (let copy = 0; copy < start.copies; copy++)
              queue.push({ body: event('publish'), order: start.order + copy })
            const isLast = !hasEnded && !running.has(channel)
            if (isLast) running.set(channel, session)
            else
              for (let copy = 0; copy < end.copies; copy++)
                queue.push({ body: event('publish_done'), order: end.order + copy })
          }
          nginx.publishers = [...running].map(([channel, session]) => ({ session, login: `user${channel}` }))
          for (const { body } of queue.toSorted((a, b) => a.order - b.order)) {
            now += 100
            await deliver(body)
          }
          if (restarts) await restart()
          now += LATE_MILLISECONDS + 1000
          // A ghost may hold the place of a publisher during the first pass.
          await reconciler.reconcileAll()
          await reconciler.reconcileAll()
          const before = await Promise.all(Array.from({ length: CHANNELS }, (_, channel) => stateOf(channel)))
          for (const [channel, state] of before.entries()) expect(state.session).toBe(running.get(channel))
          for (const [channel] of running) expect(before[channel]?.stream_id).toBeString()
          now += GRACE * 1000
          await reconciler.reconcileAll()
          await lapse()
          for (let channel = 0; channel < CHANNELS; channel++) {
            const isOn = running.has(channel)
            expect(await stateOf(channel)).toEqual({
              stream_id: isOn ? before[channel]?.stream_id : undefined,
              session: running.get(channel),
            })
          }
        }),
        { numRuns: runs(60) },
      )
    })

    test('property: the recorded requests, whole or not, lead to the state of the media server', async () => {
      const recorded = readFileSync('test/fixtures/nginx-rtmp.txt', 'utf8')
        .split('\n')
        .filter(line => line.startsWith('app='))
      // Each recorded name is a key of some channel, as it was in the recording.
      const names = [...new Set(recorded.flatMap(line => /&name=([^&]*)/.exec(line)?.[1] ?? []))]
      const bodies = recorded.map(line =>
        names.reduce(
          (text, name, index) => text.replaceAll(`&name=${name}`, `&name=${keys[index % CHANNELS]}`),
          line,
        ),
      )
      const order = fc.shuffledSubarray([...bodies.keys(), ...bodies.keys()])
      const whole = fc.constant([...bodies.keys()])
      await fc.assert(
        fc.asyncProperty(fc.oneof(whole, order), async indexes => {
          now += 3_600_000
          nginx.publishers = []
          for (const index of indexes) {
            now += 50
            const { status } = await deliver(bodies[index] ?? '')
            expect([200, 302, 403]).toContain(status)
          }
          now += LATE_MILLISECONDS + 1000
          nginx.publishers = [{ session: '31', login: 'user1' }]
          await reconciler.reconcileAll()
          const states = await Promise.all([0, 1, 2].map(stateOf))
          expect(states.map(({ session }) => session)).toEqual([undefined, '31', undefined])
          now += (GRACE + 1) * 1000
          await reconciler.reconcileAll()
          await lapse()
          const after = await Promise.all([0, 1, 2].map(stateOf))
          expect(after.map(({ stream_id }) => stream_id)).toEqual([
            undefined,
            states[1]?.stream_id,
            undefined,
          ])
        }),
        { numRuns: runs(20) },
      )
    })

    test('a media server that does not answer ends no broadcast within the grace period', async () => {
      now += 3_600_000
      nginx.publishers = [{ session: 'kept', login: 'user0' }]
      await reconciler.reconcileAll()
      const before = await stateOf(0)
      expect(before.session).toBe('kept')
      nginx.isDown = true
      for (let pass = 0; pass < 8; pass++) {
        now += 15_000
        await reconciler.reconcileAll()
        await lapse()
        expect(await stateOf(0)).toEqual(before)
      }
      const services = { store, clock, log, servers, viewers: new ViewerSessions() }
      const impatient = new Reconciler({ ...services, graceSeconds: 0, holder: 'node' })
      now += (GRACE + 30) * 1000
      await impatient.reconcileAll()
      await lapse()
      expect(await stateOf(0)).toEqual({ stream_id: undefined, session: undefined })
      nginx.isDown = false
      nginx.publishers = []
    })

    test('a dismissed publisher is disconnected, and is not revived while it is still there', async () => {
      now += 3_600_000
      nginx.publishers = [{ session: 'guest', login: 'user1' }]
      await reconciler.reconcileAll()
      await store.commands.kickPublisher({ user_id: '1001', now })
      now += LATE_MILLISECONDS + 1000
      await reconciler.reconcileAll()
      expect((await stateOf(1)).session).toBeUndefined()
      await reconciler.disconnectDismissed()
      expect([nginx.dropped.at(-1), nginx.publishers]).toEqual(['user1', []])
      expect(await store.mediaServers.dismissed(['nginx-rtmp'])).toEqual([])
    })

    const addUser = async (id: string, login: string) => {
      const { stored } = streamKeys.mint(id, 1)
      await store.commands.putUser({ id, login, stream_key: stored, now })
    }
    const liveSession = async (user_id: string) => (await store.mediaServers.liveSessionOf(user_id))?.session

    test('the publisher of a user who is deleted is disconnected, and is not live for who gets the login', async () => {
      now += 3_600_000
      await addUser('2001', 'leaver')
      nginx.publishers = [{ session: 'leaving', login: 'leaver' }]
      await reconciler.reconcileAll()
      expect(await liveSession('2001')).toBe('leaving')
      await store.commands.deleteUser({ id: '2001', now })
      await addUser('2002', 'leaver')
      for (let pass = 0; pass < 3; pass++) {
        now += LATE_MILLISECONDS + 1000
        await reconciler.reconcileAll()
        expect(await liveSession('2002')).toBeUndefined()
      }
      await reconciler.disconnectDismissed()
      expect([nginx.dropped.at(-1), nginx.publishers]).toEqual(['leaver', []])
      // Another publisher of the new user is live, also if a restarted media server counts from the start again.
      nginx.publishers = [{ session: 'next', login: 'leaver' }]
      await reconciler.reconcileAll()
      expect(await liveSession('2002')).toBe('next')
      await store.commands.deleteUser({ id: '2002', now })
      now += 31 * 24 * 3_600_000
      nginx.publishers = []
      await lapse()
      expect(await store.mediaServers.sessionsOf('nginx-rtmp', 'edge')).not.toContainEqual(
        expect.objectContaining({ login: 'leaver' }),
      )
    })

    test('a user who gets another login keeps the publisher, which is disconnected by its first name', async () => {
      now += 3_600_000
      await addUser('2003', 'first_name')
      nginx.publishers = [{ session: 'renamed', login: 'first_name' }]
      await reconciler.reconcileAll()
      await addUser('2003', 'second_name')
      await addUser('2004', 'first_name')
      const { adapter, server, session } = { adapter: 'nginx-rtmp', server: 'edge', session: 'renamed' }
      // Its end was reported by mistake: it is live again, and for the same user.
      await store.commands.closeSession({ adapter, server, session, now })
      now += LATE_MILLISECONDS + 1000
      await reconciler.reconcileAll()
      expect([await liveSession('2003'), await liveSession('2004')]).toEqual(['renamed', undefined])
      await store.commands.kickPublisher({ user_id: '2003', now })
      await reconciler.disconnectDismissed()
      expect([nginx.dropped.at(-1), nginx.publishers]).toEqual(['first_name', []])
      for (const id of ['2003', '2004']) await store.commands.deleteUser({ id, now })
    })

    test('publishers that no media server can disconnect do not delay the others', async () => {
      now += 3_600_000
      const ids = { stream_id: '1', video_id: '2', watch_url: null, user_id: '1001' }
      for (let n = 0; n < 1010; n++)
        await store.commands.openSession({
          ...ids,
          adapter: 'generic',
          server: 'any',
          session: String(n),
          second_publisher: 'take_over',
          now,
        })
      const taken = await store.mediaServers.sessionsOf('generic', 'any')
      expect(taken.filter(({ dismissed_at }) => dismissed_at !== null)).toHaveLength(1009)
      nginx.publishers = [{ session: 'behind', login: 'user2' }]
      await reconciler.reconcileAll()
      await store.commands.kickPublisher({ user_id: '1002', now })
      await reconciler.disconnectDismissed()
      expect([nginx.dropped.at(-1), nginx.publishers]).toEqual(['user2', []])
    })

    test('a store that does not answer delays no callback for long, and gets the session afterwards', async () => {
      now += 3_600_000
      nginx.publishers = []
      let isStuck = false
      const unless =
        <A extends unknown[], R>(work: (...args: A) => R | Promise<R>) =>
        (...args: A): Promise<R> =>
          isStuck ? new Promise<R>(() => undefined) : Promise.resolve(work(...args))
      const slow: Store = {
        ...store,
        streamKeys: { ...store.streamKeys, channelOf: unless(store.streamKeys.channelOf) },
        commands: { ...store.commands, openSession: unless(store.commands.openSession) },
      }
      await restart(slow)
      const event = (call: string, session: string, name = '') =>
        `app=live&addr=192.0.2.7&clientid=${session}&call=${call}&name=${name}`
      const key = keys[2] ?? ''
      expect((await deliver(event('publish', 'known', key))).status).toBe(302)
      await deliver(event('publish_done', 'known', key))
      isStuck = true
      const began = performance.now()
      const [delayed, stranger] = await Promise.all([
        deliver(event('publish', 'delayed', key)),
        deliver(event('publish', 'stranger', keys[1])),
      ])
      expect(delayed).toEqual({ status: 302, location: 'user2' })
      expect(stranger.status).toBe(403)
      expect(performance.now() - began).toBeLessThan(8000)
      isStuck = false
      now += 1000
      await reconciler.openPending()
      expect((await stateOf(2)).session).toBe('delayed')
      isStuck = true
      await deliver(event('publish', 'gone', key))
      await deliver(event('publish_done', 'gone', key))
      isStuck = false
      await deliver(event('publish_done', 'delayed', key))
      await reconciler.openPending()
      expect((await stateOf(2)).session).toBeUndefined()
      // Accepted although the channel has another publisher, which the store could not answer: it is disconnected.
      await deliver(event('publish', 'rightful', key))
      nginx.publishers = [
        { session: 'rightful', login: 'elsewhere' },
        { session: 'second', login: 'user2' },
      ]
      isStuck = true
      expect((await deliver(event('publish', 'second', key))).status).toBe(302)
      isStuck = false
      await reconciler.openPending()
      expect((await stateOf(2)).session).toBe('rightful')
      expect([nginx.dropped.at(-1), nginx.publishers.map(({ session }) => session)]).toEqual([
        'user2',
        ['rightful'],
      ])
      await restart()
    })

    test('another process does not compare a media server at the same time', async () => {
      now += 3_600_000
      nginx.publishers = [{ session: 'turn', login: 'user2' }]
      const services = { store, clock, log, servers, viewers: new ViewerSessions(), graceSeconds: GRACE }
      const other = new Reconciler({ ...services, holder: 'other node' })
      await reconciler.reconcileAll()
      expect((await stateOf(2)).session).toBe('turn')
      nginx.publishers = []
      now += LATE_MILLISECONDS + 1000
      await other.reconcileAll()
      expect((await stateOf(2)).session).toBe('turn')
      await reconciler.reconcileAll()
      expect((await stateOf(2)).session).toBeUndefined()
    })
  })
}
