/**
 * The callbacks of every media server but nginx-rtmp, which replay.full.ts has: lost, doubled and shuffled where Strand polls
 * an API, doubled where it has only the callbacks.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { hashToken } from '../../src/auth/tokens.ts'
import { LATE_MILLISECONDS } from '../../src/domain/publish-session.ts'
import type { HookRequest } from '../../src/ingest/adapters/adapter.ts'
import { adapters } from '../../src/ingest/adapters/index.ts'
import { IngestHooks } from '../../src/ingest/hooks.ts'
import { MayPublish } from '../../src/ingest/may-publish.ts'
import { MediaServers } from '../../src/ingest/media-servers.ts'
import { Reconciler } from '../../src/ingest/reconcile.ts'
import { ViewerSessions } from '../../src/ingest/viewer-sessions.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'
import { type Broadcaster, DIALECTS, FakeApi } from './dialects.ts'

const GRACE = 60
const RUNS = 8
const POLL_MILLISECONDS = 5000
const CHANNELS = ['1000', '1001', '1002']
const START = Date.parse('2026-03-01T12:00:00.000Z')
const log = createLog({ level: 'error', readable: false, write: () => undefined })

for (const engine of engines) {
  describe(`replayed callbacks of other media servers on ${engine}`, () => {
    const broadcasters: Broadcaster[] = []
    let now = START
    let sessions = 0
    let store: Store
    let close: () => Promise<void>
    let hooks: IngestHooks
    let reconciler: Reconciler
    let servers: MediaServers
    const apis = new Map(DIALECTS.filter(({ list }) => list).map(each => [each.adapter, new FakeApi(each)]))

    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
      const streamKeys = new StreamKeys(new KeyRing([{ id: 'one', bytes: Buffer.alloc(32, 7) }]))
      for (const id of CHANNELS) {
        const { key, stored } = streamKeys.mint(id, 1)
        const login = `user${id}`
        broadcasters.push({ login, key })
        await store.commands.putUser({ id, login, stream_key: stored, now })
      }
      for (const { adapter } of DIALECTS)
        await store.commands.putMediaServer({
          name: adapter,
          adapter,
          api_url: apis.get(adapter)?.url ?? null,
          secret_hash: hashToken('secret'),
          created_at: '2026-03-01T12:00:00.000Z',
        })
      const services = { store, clock: { now: () => now }, log, streamKeys, viewers: new ViewerSessions() }
      servers = new MediaServers(services)
      reconciler = new Reconciler({ ...services, servers, graceSeconds: GRACE, holder: 'node' })
      hooks = new IngestHooks({ ...services, servers, reconciler, mayPublish: new MayPublish(services) })
      await servers.refresh()
    })
    afterAll(async () => {
      for (const api of apis.values()) await api.stop()
      await close()
    })

    const deliver = async (adapter: string, request: HookRequest) => {
      const server = await hooks.findServer({ adapter, server: adapter, secret: 'secret', address: '' })
      if (server === undefined) throw new Error('the secret is right')
      return hooks.answer(server, request)
    }
    const lapse = async () => {
      const due = { now, graceSeconds: GRACE }
      while (await store.streams.hasSilentBroadcasts(due)) await store.commands.endSilentBroadcasts(due)
    }
    /** Long enough after the run before: all of it has lapsed. */
    const begin = async () => {
      for (const user_id of CHANNELS) {
        const session = await store.mediaServers.liveSessionOf(user_id)
        if (session !== undefined) await store.commands.closeSession({ ...session, now })
      }
      now += 3_600_000
      for (const api of apis.values()) api.publishers = []
      await reconciler.reconcileAll()
      await lapse()
    }
    const passes = async (count: number) => {
      for (let pass = 0; pass < count; pass++) {
        now += POLL_MILLISECONDS
        await reconciler.reconcileAll()
      }
    }
    const stateOf = async (user_id: string) => ({
      session: (await store.mediaServers.liveSessionOf(user_id))?.session,
      isLive: (await store.streams.of(user_id)) !== undefined,
    })
    const states = () => Promise.all(CHANNELS.map(stateOf))

    const delivered = fc.record({
      copies: fc.constantFrom(0, 1, 1, 1, 2),
      order: fc.integer({ min: 0, max: 1000 }),
    })
    const broadcasts = fc.array(
      fc.record({
        channel: fc.integer({ min: 0, max: CHANNELS.length - 1 }),
        hasEnded: fc.boolean(),
        start: delivered,
        end: delivered,
      }),
      { minLength: 1, maxLength: 6 },
    )

    for (const { adapter, publish, end } of DIALECTS.filter(({ list }) => list !== undefined)) {
      test(`${adapter}: lost, doubled and shuffled callbacks lead to the state of the media server`, async () => {
        await fc.assert(
          fc.asyncProperty(broadcasts, async plan => {
            await begin()
            const api = apis.get(adapter)
            if (api === undefined) throw new Error('it has an API')
            const queue: { readonly request: HookRequest; readonly order: number }[] = []
            const running = new Map<string, string>()
            for (const { channel, hasEnded, start, end: ended } of plan) {
              const session = String(++sessions)
              const broadcaster = broadcasters[channel] ?? { login: '', key: '' }
              for (let copy = 0; copy < start.copies; copy++)
                queue.push({ request: publish(session, broadcaster), order: start.order + copy })
              const isLast = !hasEnded && !running.has(broadcaster.login)
              if (isLast) running.set(broadcaster.login, session)
              else
                for (let copy = 0; copy < ended.copies; copy++)
                  queue.push({ request: end(session, broadcaster), order: ended.order + copy })
            }
            api.publishers = [...running].map(([login, session]) => ({ session, login }))
            const answers = new Map<string, number>()
            for (const { request } of queue.toSorted((a, b) => a.order - b.order)) {
              now += 100
              const { status } = await deliver(adapter, request)
              answers.set(String(status), (answers.get(String(status)) ?? 0) + 1)
            }
            expect([...answers.keys()].every(status => ['200', '401', '403'].includes(status))).toBe(true)
            now += LATE_MILLISECONDS
            // A ghost may hold the place of a publisher during the first pass, and one that no callback asked about is
            // disconnected in the second one, if the media server asks late.
            await passes(3)
            const left = new Map(api.publishers.map(({ login, session }) => [login, session]))
            if (!adapters[adapter].asksLate) expect(left).toEqual(running)
            const expected = broadcasters.map(({ login }) => left.get(login))
            expect((await states()).map(({ session }) => session)).toEqual(expected)
            now += GRACE * 1000
            await passes(1)
            await lapse()
            expect((await states()).map(({ isLive }) => isLive)).toEqual(
              expected.map(session => session !== undefined),
            )
          }),
          { numRuns: RUNS },
        )
      })
    }

    for (const { adapter, publish, end } of DIALECTS.filter(({ list }) => list === undefined)) {
      test(`${adapter}: doubled callbacks change nothing`, async () => {
        const step = fc.record({
          channel: fc.integer({ min: 0, max: CHANNELS.length - 1 }),
          hasEnded: fc.boolean(),
          copies: fc.integer({ min: 1, max: 3 }),
          repeats: fc.boolean(),
        })
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async plan => {
            await begin()
            const running = new Map<string, string>()
            for (const { channel, hasEnded, copies, repeats } of plan) {
              const session = String(++sessions)
              const broadcaster = broadcasters[channel] ?? { login: '', key: '' }
              const requests = Array.from({ length: copies }, () => publish(session, broadcaster))
              if (hasEnded) {
                for (let copy = 0; copy < copies; copy++) requests.push(end(session, broadcaster))
                // Late.
                if (repeats) requests.push(publish(session, broadcaster))
                running.delete(broadcaster.login)
              } else running.set(broadcaster.login, session)
              for (const request of requests) {
                now += 100
                await deliver(adapter, request)
              }
            }
            await passes(2)
            expect((await states()).map(({ session }) => session)).toEqual(
              broadcasters.map(({ login }) => running.get(login)),
            )
            now += GRACE * 1000
            await passes(1)
            await lapse()
            expect((await states()).map(({ isLive }) => isLive)).toEqual(
              broadcasters.map(({ login }) => running.has(login)),
            )
          }),
          { numRuns: RUNS },
        )
      })
    }

    test('a second publisher is refused where the media server refuses it itself, and takes over elsewhere', async () => {
      await begin()
      const [user_id = ''] = CHANNELS
      const [broadcaster = { login: '', key: '' }] = broadcasters
      await store.commands.changeChannel({ user_id, second_publisher: 'take_over', video_id: '1' })
      for (const { adapter, publish, list } of DIALECTS) {
        if (list === undefined) continue
        await begin()
        const [first, second] = [String(++sessions), String(++sessions)]
        const api = apis.get(adapter)
        if (api === undefined) throw new Error('it has an API')
        api.publishers = [{ session: first, login: broadcaster.login }]
        await deliver(adapter, publish(first, broadcaster))
        now += 6000
        const { status } = await deliver(adapter, publish(second, broadcaster))
        const isRefused = adapters[adapter].asksLate === true
        expect([adapter, status]).toEqual([adapter, isRefused ? 403 : 200])
        expect((await stateOf(user_id)).session).toBe(isRefused ? first : second)
      }
      await store.commands.changeChannel({ user_id, second_publisher: 'refuse', video_id: '1' })
    })

    test('node-media-server: the recorded requests, whole or not, lead to the state of the media server', async () => {
      const recorded = readFileSync('test/fixtures/node-media-server.txt', 'utf8')
        .trim()
        .split('\n')
        .map(
          line => JSON.parse(line.slice(line.indexOf('{'))) as { id: string; name: string; action: string },
        )
      const [first, second] = broadcasters as [Broadcaster, Broadcaster]
      // The first name was that of a publisher with a right key, the second one had a wrong key.
      const [allowed = ''] = recorded.map(({ name }) => name)
      const requestOf = (index: number, run: string): HookRequest => {
        const each = recorded[index]
        const publisher =
          each?.name === allowed
            ? { name: first.login, query: { key: first.key } }
            : { name: second.login, query: { key: 'wrong' }, ip: '192.0.2.9:4000' }
        return { json: { ...each, id: `${each?.id}${run}`, ...publisher } }
      }
      const indexes = [...recorded.keys()]
      const some = fc.oneof(fc.constant(indexes), fc.shuffledSubarray([...indexes, ...indexes]))
      await fc.assert(
        fc.asyncProperty(some, async order => {
          await begin()
          const api = apis.get('node-media-server')
          if (api === undefined) throw new Error('it has an API')
          // Its ids are never used again.
          const run = String(++sessions)
          const session = `${recorded[0]?.id}${run}`
          api.publishers = [{ session, login: first.login }]
          for (const index of order) {
            now += 50
            const { status } = await deliver('node-media-server', requestOf(index, run))
            const isWrong = recorded[index]?.action === 'prePublish' && recorded[index]?.name !== allowed
            expect(status).toBe(isWrong ? 403 : 200)
          }
          const isAsked = order.includes(0)
          await passes(3)
          const [one, two] = await states()
          expect([one?.session, two?.session]).toEqual([isAsked ? session : undefined, undefined])
          // Without the question its key was not checked, so it was disconnected.
          expect(api.publishers.length).toBe(isAsked ? 1 : 0)
        }),
        { numRuns: RUNS },
      )
    })
  })
}
