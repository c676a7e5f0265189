/** The listeners of a client library as they come from npm, by WebSocket and by webhook. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient } from '@twurple/api'
import { AppTokenAuthProvider, revokeToken, StaticAuthProvider } from '@twurple/auth'
import { ConnectionAdapter, EventSubHttpListener } from '@twurple/eventsub-http'
import { EventSubWsListener } from '@twurple/eventsub-ws'
import { goLive, goOffline, type NewChannel, newChannel } from '../operations/helix/channels.ts'
import { CertificateAuthority, type Certified } from '../support/server/certificate.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const SCOPES = ['moderator:read:followers', 'user:read:broadcast']
const quiet = { logger: { minLevel: 'CRITICAL' } } as const

/** What both listeners have in common. */
type Listener = Pick<
  EventSubWsListener,
  'onStreamOnline' | 'onStreamOffline' | 'onChannelUpdate' | 'onChannelFollow' | 'onRevoke'
> &
  Pick<EventSubWsListener, 'onSubscriptionCreateSuccess' | 'onSubscriptionCreateFailure' | 'start' | 'stop'>

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await Bun.sleep(20)
}

/** Its server binds to loopback and has TLS, as the callback of the library always begins with `https`. */
class LoopbackAdapter extends ConnectionAdapter {
  readonly #port: number
  readonly #certificate: Certified

  constructor(port: number, certificate: Certified) {
    super()
    this.#port = port
    this.#certificate = certificate
  }

  override createHttpServer(): Server {
    const server = new TlsServer({ ...this.#certificate })
    const listen = server.listen.bind(server)
    server.listen = ((port: number, done: () => void) => listen(port, '127.0.0.1', done)) as typeof listen
    return server as unknown as Server
  }

  override get listenerPort(): number {
    return this.#port
  }

  async getHostName(): Promise<string> {
    return `localhost:${this.#port}`
  }
}

for (const engine of engines) {
  describe(`twurple on ${engine}`, () => {
    let server: TestServer
    let folder: string
    let certificate: Certified
    let before: string | undefined

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'strand-twurple-'))
      const authority = new CertificateAuthority()
      certificate = authority.issue('localhost')
      const eventAuthority = join(folder, 'authority.pem')
      writeFileSync(eventAuthority, authority.cert)
      server = await startTestServer(engine, { config: { eventAuthority } })
      before = process.env.TWURPLE_MOCK_API_PORT
      process.env.TWURPLE_MOCK_API_PORT = new URL(server.strand.url).port
    })
    afterAll(async () => {
      if (before === undefined) delete process.env.TWURPLE_MOCK_API_PORT
      else process.env.TWURPLE_MOCK_API_PORT = before
      await server.stop()
      rmSync(folder, { recursive: true })
    })

    const overWebSocket = ({ token }: NewChannel): Listener => {
      const authProvider = new StaticAuthProvider(server.world.client.id, token)
      return new EventSubWsListener({ apiClient: new ApiClient({ authProvider, ...quiet }), ...quiet })
    }
    const appClient = () => {
      const { id, secret } = server.world.client
      return new ApiClient({ authProvider: new AppTokenAuthProvider(id, secret), ...quiet })
    }
    const overWebhook = async (): Promise<Listener> =>
      new EventSubHttpListener({
        apiClient: appClient(),
        adapter: new LoopbackAdapter(await freePort(), certificate),
        secret: 'a secret of 10 to 100 characters',
        ...quiet,
      })

    const TRANSPORTS = { 'a WebSocket': overWebSocket, 'a webhook': overWebhook }
    for (const [transport, make] of Object.entries(TRANSPORTS)) {
      test(`online, offline, update and follow reach a listener with ${transport}`, async () => {
        const channel = await newChannel(server, SCOPES)
        const listener = await make(channel)
        const heard: unknown[] = []
        const failures: string[] = []
        let created = 0
        listener.onSubscriptionCreateSuccess(() => {
          created += 1
        })
        listener.onSubscriptionCreateFailure((_, error) => failures.push(error.message))
        listener.start()
        listener.onStreamOnline(channel.id, event => {
          heard.push(['online', event.broadcasterId, event.id, event.type, event.startDate.getTime() > 0])
        })
        listener.onStreamOffline(channel.id, event => {
          heard.push(['offline', event.broadcasterName])
        })
        listener.onChannelUpdate(channel.id, event => {
          heard.push(['update', event.streamTitle, event.categoryId, event.contentClassificationLabels])
        })
        listener.onChannelFollow(channel.id, channel.id, event => {
          heard.push(['follow', event.userId, event.broadcasterId, event.followDate.getTime() > 0])
        })
        await until(async () => failures.length > 0 || (created === 4 && (await enabled(channel.id)) === 4))
        expect(failures).toEqual([])

        const { viewer, game } = server.world
        const live = await goLive(server, channel.id)
        await until(() => heard.length === 1)
        await goOffline(server, channel.id)
        await until(() => heard.length === 2)
        await server.control('PATCH', `/channels/${channel.id}`, { title: 'Night run', game_id: game.id })
        await until(() => heard.length === 3)
        await server.control('PUT', `/users/${viewer.id}/follows/${channel.id}`, {})
        await until(() => heard.length === 4)
        expect(heard).toEqual([
          ['online', channel.id, live.id, 'live', true],
          ['offline', channel.login],
          ['update', 'Night run', game.id, []],
          ['follow', viewer.id, channel.id, true],
        ])
        listener.stop()
      })

      test(`a revocation reaches a listener with ${transport}`, async () => {
        const channel = await newChannel(server, SCOPES)
        const listener = await make(channel)
        const revoked: unknown[] = []
        listener.onRevoke(({ id }, status) => revoked.push([id, status]))
        listener.start()
        const { id } = listener.onChannelFollow(channel.id, channel.id, () => undefined)
        await until(async () => (await enabled(channel.id)) === 1)
        await server.control('DELETE', `/users/${channel.id}`)
        await until(() => revoked.length > 0)
        expect(revoked).toEqual([[id, 'user_removed']])
        listener.stop()
      })
    }

    test('a listener gets to know that the last token was revoked', async () => {
      const { client } = server.world
      const { id: user_id } = await newChannel(server, [])
      const given = { client_id: client.id, user_id, scopes: SCOPES }
      const [issued] = await server.control('POST', '/tokens', given)
      const listener = await overWebhook()
      const revoked: unknown[] = []
      listener.onRevoke(({ id }, status) => revoked.push([id, status]))
      listener.start()
      const { id } = listener.onChannelFollow(user_id, user_id, () => undefined)
      await until(async () => (await enabled(user_id)) === 1)
      await revokeToken(client.id, issued.access_token)
      expect(await enabled(user_id)).toBe(1)
      // With it end all tokens that were derived from it.
      await revokeToken(client.id, issued.refresh_token)
      await until(() => revoked.length > 0)
      expect(revoked).toEqual([[id, 'authorization_revoked']])
      listener.stop()
    })

    test('subscriptions are listed with pages, totals and costs, and deleted', async () => {
      const SUBSCRIPTIONS = 230
      const [{ id, secret }] = await server.control('POST', '/clients', { name: 'Listing' })
      const authProvider = new AppTokenAuthProvider(id, secret)
      const { eventSub } = new ApiClient({ authProvider, ...quiet })
      const { id: user } = await newChannel(server)
      const transport = (number: number) => ({
        method: 'webhook' as const,
        callback: `http://127.0.0.1:1/events/${number}`,
        secret: 'a secret of 10 to 100 characters',
      })
      const numbers = Array.from({ length: SUBSCRIPTIONS - 1 }, (_, number) => number)
      const made = await Promise.all(
        numbers.map(number => eventSub.subscribeToStreamOnlineEvents(user, transport(number))),
      )
      made.push(await eventSub.subscribeToStreamOfflineEvents(user, transport(0)))

      const first = await eventSub.getSubscriptions()
      expect([first.data.length, first.total, first.totalCost, first.maxTotalCost]).toEqual([
        100,
        SUBSCRIPTIONS,
        SUBSCRIPTIONS,
        10_000,
      ])
      const pages = eventSub.getSubscriptionsPaginated()
      const all = await pages.getAll()
      expect(all.map(each => each.id).sort()).toEqual(made.map(each => each.id).sort())
      expect([
        await pages.getTotalCount(),
        await pages.getTotalCost(),
        await pages.getMaxTotalCost(),
      ]).toEqual([SUBSCRIPTIONS, SUBSCRIPTIONS, 10_000])
      const offline = await eventSub.getSubscriptionsForType('stream.offline')
      expect(offline.data.map(each => [each.type, each.condition, each.cost])).toEqual([
        ['stream.offline', { broadcaster_user_id: user }, 1],
      ])
      expect(offline.data[0]?.creationDate.getTime()).toBeGreaterThan(0)
      const again = eventSub.subscribeToStreamOfflineEvents(user, transport(0))
      await expect(again).rejects.toMatchObject({ statusCode: 409 })
      await eventSub.deleteSubscription(offline.data[0]?.id ?? '')
      expect((await eventSub.getSubscriptions()).total).toBe(SUBSCRIPTIONS - 1)
      await eventSub.deleteAllSubscriptions()
      expect((await eventSub.getSubscriptions()).total).toBe(0)
    })

    const enabled = async (id: string): Promise<number> => {
      const rows = await server.execute(
        `select 1 from event_subscriptions where status = 'enabled' and condition like '%"${id}"%'`,
      )
      return rows.length
    }
  })
}
