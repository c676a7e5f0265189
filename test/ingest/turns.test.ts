/** Reconcilers of several nodes: one at a time compares a media server, and one that was stopped writes nothing old. */
import { describe, expect, test } from 'bun:test'
import { MediaServers } from '../../src/ingest/media-servers.ts'
import { Reconciler } from '../../src/ingest/reconcile.ts'
import { ViewerSessions } from '../../src/ingest/viewer-sessions.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { MovableClock } from '../../src/kit/time/clock.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'
import { FakeNginx } from './media-api.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

describe.each([...engines])('reconcilers of two nodes on %s', engine => {
  test('take turns; what one saw before the turn of the other ends no session', async () => {
    const { store, close } = await openTestStore(engine)
    const nginx = new FakeNginx()
    const clock = new MovableClock({ at: NOW, running: false })
    await store.commands.putUser({ id: '7', login: 'otter', stream_key: anyStreamKey('7'), now: NOW })
    await store.commands.putMediaServer({
      ...{ name: 'edge', adapter: 'nginx-rtmp', api_url: nginx.url, secret_hash: 'none' },
      created_at: '2026-03-01T12:00:00Z',
    })
    const servers = new MediaServers({ store, clock })
    await servers.refresh()
    const log = createLog({ level: 'info', readable: false, write: () => undefined })
    const reconcilerOf = (holder: string) =>
      new Reconciler({ store, clock, log, servers, viewers: new ViewerSessions(), graceSeconds: 60, holder })
    const [one, two] = [reconcilerOf('one'), reconcilerOf('two')]
    const loseTurn = () =>
      store.commands
        .takeTurn({ name: 'media-server/edge', holder: 'one', seconds: 0 })
        .then(() => Bun.sleep(2))

    const publishers = [{ session: '1', login: 'otter' }]
    nginx.publishers = publishers
    await one.reconcileAll()
    await two.reconcileAll()
    expect(nginx.polls).toBe(1)
    expect((await store.mediaServers.liveSessionOf('7'))?.session).toBe('1')

    clock.advance(30_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    nginx.publishers = []
    nginx.held = promise
    const late = one.reconcileAll()
    while (nginx.polls < 2) await Bun.sleep(1)
    nginx.publishers = publishers
    nginx.held = undefined
    await loseTurn()
    clock.advance(1000)
    await two.reconcileAll()
    expect(nginx.polls).toBe(3)
    resolve()
    await late
    expect((await store.mediaServers.liveSessionOf('7'))?.session).toBe('1')

    clock.advance(5000)
    nginx.publishers = []
    await two.reconcileAll()
    expect(await store.mediaServers.liveSessionOf('7')).toBeUndefined()
    await nginx.stop()
    await close()
  })
})
