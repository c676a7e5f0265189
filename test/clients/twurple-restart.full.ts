/** The WebSocket listener of a client library while the server restarts. */
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { ApiClient } from '@twurple/api'
import { StaticAuthProvider } from '@twurple/auth'
import { EventSubWsListener } from '@twurple/eventsub-ws'
import { until } from '../events/receiver.ts'
import { Node, startTwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { pathOfProxy, startProxy } from '../support/proxies/proxy-process.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const quiet = { logger: { minLevel: 'CRITICAL' } } as const
const BROADCASTER = '1000'

afterAll(endAllProcesses)

/** A listener for the updates of a channel, and what became of it. */
async function listenAt(port: number, node: Node) {
  await node.control('PUT', `/users/${BROADCASTER}`, { login: 'channel' })
  const { id: client_id } = await node.control('POST', '/clients', { name: 'Bot' })
  const { access_token } = await node.control('POST', '/tokens', { client_id, user_id: BROADCASTER })
  process.env.TWURPLE_MOCK_API_PORT = String(port)
  const authProvider = new StaticAuthProvider(client_id, access_token)
  const listener = new EventSubWsListener({ apiClient: new ApiClient({ authProvider, ...quiet }), ...quiet })
  const seen = { titles: [] as string[], created: 0, failures: [] as string[], ready: 0, disconnects: 0 }
  listener.onSubscriptionCreateSuccess(() => {
    seen.created += 1
  })
  listener.onSubscriptionCreateFailure((_, error) => seen.failures.push(error.message))
  listener.onUserSocketReady(() => {
    seen.ready += 1
  })
  listener.onUserSocketDisconnect(() => {
    seen.disconnects += 1
  })
  listener.start()
  listener.onChannelUpdate(BROADCASTER, event => {
    seen.titles.push(event.streamTitle)
  })
  await until(() => seen.created + seen.failures.length > 0)
  return { listener, seen }
}

async function retitle(node: Node, title: string): Promise<void> {
  await node.control('PATCH', `/channels/${BROADCASTER}`, { title })
}

describe('the WebSocket listener of twurple', () => {
  test('continues after the restart of the only node', async () => {
    const place = await createStorePlace('sqlite')
    const port = await freePort()
    const node = new Node(port, await freePort(), {
      STRAND_DATA: place.folder,
      STRAND_PUBLIC_URL: `http://127.0.0.1:${port}`,
      STRAND_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
      STRAND_MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
    })
    await node.start()
    const { listener, seen } = await listenAt(port, node)
    await retitle(node, 'Before')
    await until(() => seen.titles.length === 1)
    expect(await node.stop()).toBe(0)
    await node.start()
    // Its first attempt fails, so it begins again, sometimes with two connections, and the session continues nevertheless.
    await until(() => seen.ready > 1 && seen.created + seen.failures.length === seen.ready)
    await retitle(node, 'After')
    await until(() => seen.titles.length === 2)
    expect(seen).toMatchObject({ titles: ['Before', 'After'], failures: [] })
    listener.stop()
    await node.stop()
    await place.remove()
  })

  const needed = pathOfProxy.haproxy === undefined || !engines.includes('postgres')
  test.skipIf(needed)(
    'hears everything during the restart of one of two nodes, without subscribing again',
    async () => {
      const port = await freePort()
      const { place, cables, nodes } = await startTwoNodes({ STRAND_PUBLIC_URL: `http://127.0.0.1:${port}` })
      const [one, two] = nodes
      const proxy = await startProxy('haproxy', [one.port, two.port], { port })
      const { listener, seen } = await listenAt(port, one)
      const titles: string[] = []
      for (const [node, other] of [nodes, nodes.toReversed()]) {
        const stopping = (node as Node).stop()
        for (let turn = 0; turn < 10; turn++) {
          titles.push(`Title ${titles.length}`)
          await retitle(other as Node, titles.at(-1) ?? '')
          await Bun.sleep(300)
        }
        expect(await stopping).toBe(0)
        await (node as Node).start()
        await (node as Node).untilBehind(proxy)
      }
      await until(() => seen.titles.length >= titles.length)
      expect(seen).toMatchObject({ titles, created: 1, failures: [], disconnects: 0 })
      expect(seen.ready).toBeGreaterThanOrEqual(2)
      listener.stop()
      await proxy.stop()
      await Promise.all(nodes.map(node => node.stop()))
      await Promise.all(cables.map(cable => cable.close()))
      await place.remove()
    },
  )
})
