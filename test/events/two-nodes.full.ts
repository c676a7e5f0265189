/** Events on two nodes with one PostgreSQL, behind the proxies of deploy/. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Node, startTwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import type { Cable } from '../support/proxies/cable.ts'
import { PROXIES } from '../support/proxies/proxies.ts'
import { pathOfProxy, startProxy } from '../support/proxies/proxy-process.ts'
import { EventClient, type SocketMessage } from '../support/server/event-client.ts'
import { engines, executeIn, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { Receiver, SECRET, until } from './receiver.ts'

const BROADCASTER = '1000'
const SOCKETS = 500
const SOCKETS_OF_USER = 3
const UPDATE_MILLISECONDS = 400
/** A node that died is noticed when its lease of 30 seconds ends, by others that look every 10 seconds. */
const LOST_MILLISECONDS = 45_000

let place: StorePlace
let cables: readonly Cable[] = []
let nodes: readonly [Node, Node]
let publicPort: number
let appToken: string
const userTokens: string[] = []

describe.skipIf(!engines.includes('postgres'))('two nodes', () => {
  beforeAll(async () => {
    publicPort = await freePort()
    ;({ place, cables, nodes } = await startTwoNodes({
      STRAND_PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
      STRAND_EVENT_CALLBACKS: 'any',
      STRAND_LOG: 'info',
    }))
    const [one] = nodes
    await one.control('PUT', `/users/${BROADCASTER}`, { login: 'channel' })
    const { id: client_id } = await one.control('POST', '/clients', { name: 'Back end' })
    appToken = (await one.control('POST', '/tokens', { client_id })).access_token
    for (let user = 1; userTokens.length < SOCKETS / SOCKETS_OF_USER; user++) {
      const user_id = String(2000 + user)
      await one.control('PUT', `/users/${user_id}`, { login: `viewer_${user}` })
      userTokens.push((await one.control('POST', '/tokens', { client_id, user_id })).access_token)
    }
  })
  afterAll(async () => {
    await endAllProcesses()
    await Promise.all(cables.map(cable => cable.close()))
    await place?.remove()
  })

  test('a socket of one node gets the events of the other, and subscriptions made there, within a second', async () => {
    const [one, two] = nodes
    const client = await EventClient.connect(urlOf(one))
    await subscribe(two, userTokens[0], { method: 'websocket', session_id: await client.sessionId() })
    const waits: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      await retitle(two, `Far ${turn}`)
      const begun = performance.now()
      await client.message('notification', turn)
      waits.push(performance.now() - begun)
    }
    expect(client.messages.slice(-1)[0].payload.event.title).toBe('Far 4')
    expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(1000)
    client.close()
    await until(async () => (await executeIn(place, 'select 1 from event_sockets')).length === 0)
  })

  for (const name of PROXIES) {
    test.skipIf(pathOfProxy[name] === undefined)(
      `a rolling restart behind ${name} loses no event and sends none twice`,
      async () => {
        const proxy = await startProxy(name, [nodes[0].port, nodes[1].port], { port: publicPort })
        const receiver = new Receiver()
        await subscribe(nodes[0], appToken, {
          method: 'webhook',
          callback: receiver.url(),
          secret: SECRET,
        })
        const clients: MovingClient[] = []
        // A session without a subscription ends after ten seconds.
        for (let index = 0; index < SOCKETS; index++) {
          const first = await connected(proxy.url)
          await subscribe(nodes[index % 2], userTokens[Math.floor(index / SOCKETS_OF_USER)], {
            method: 'websocket',
            session_id: await first.sessionId(),
          })
          clients.push(new MovingClient(first))
        }
        await until(() => receiver.of('webhook_callback_verification').length > 0)
        const following = clients.map(client => client.follow())

        const titles: string[] = []
        let isOver = false
        const updating = (async () => {
          while (!isOver) {
            const title = `${name} ${titles.length}`
            const ready = (await nodes[0].isReady()) ? nodes[0] : nodes[1]
            await retitle(ready, title)
            titles.push(title)
            await Bun.sleep(UPDATE_MILLISECONDS)
          }
        })()
        for (const node of nodes) {
          expect(await node.stop()).toBe(0)
          await node.start()
        }
        isOver = true
        await updating
        await until(() => clients.every(client => client.isOver || client.titles.length >= titles.length))
        await until(() => receiver.notifications().length >= titles.length)

        expect(clients.filter(client => client.isOver).map(client => client.ended)).toEqual([])
        const wrong = clients.filter(client => !Bun.deepEquals(client.titles.toSorted(), titles.toSorted()))
        expect(wrong.map(client => client.titles)).toEqual([])
        expect(Math.min(...clients.map(client => client.moves))).toBeGreaterThanOrEqual(1)
        expect(
          receiver
            .notifications()
            .map(each => each.body.event.title)
            .sort(),
        ).toEqual(titles.toSorted())
        expect(receiver.forged).toEqual([])
        for (const client of clients) client.close()
        await Promise.all(following)
        await until(async () => (await executeIn(place, 'select 1 from event_sockets')).length === 0)
        await receiver.stop()
        await proxy.stop()
      },
      120_000,
    )
  }

  test('the sessions of a node that died end, and are listed so', async () => {
    const [one, two] = nodes
    const [lost, kept] = [await EventClient.connect(urlOf(one)), await EventClient.connect(urlOf(two))]
    const transportOf = async (client: EventClient) => ({
      method: 'websocket',
      session_id: await client.sessionId(),
    })
    await subscribe(one, userTokens[0], await transportOf(lost))
    await subscribe(two, userTokens[0], await transportOf(kept))
    const begun = performance.now()
    await one.stop('SIGKILL')
    let sessions: string[] = []
    while (sessions.length === 0) {
      sessions = (await listed(two, userTokens[0], 'websocket_network_error')).map(
        each => each.transport.session_id,
      )
      await Bun.sleep(200)
    }
    expect(performance.now() - begun).toBeLessThan(LOST_MILLISECONDS)
    expect(sessions).toEqual([await lost.sessionId()])
    await retitle(two, 'Alone')
    expect((await kept.message('notification')).payload.event.title).toBe('Alone')
    kept.close()
  })
})

const urlOf = (node: Node) => `http://127.0.0.1:${node.port}`

async function retitle(node: Node, title: string): Promise<void> {
  await node.control('PATCH', `/channels/${BROADCASTER}`, { title })
}

async function subscribe(node: Node | undefined, token = '', transport: object = {}): Promise<void> {
  const answer = await fetch(`${urlOf(node as Node)}/helix/eventsub/subscriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({
      type: 'channel.update',
      version: '2',
      condition: { broadcaster_user_id: BROADCASTER },
      transport,
    }),
  })
  if (answer.status !== 202) throw new Error(`subscribing answered ${answer.status}: ${await answer.text()}`)
}

async function listed(node: Node, token = '', status: string): Promise<SocketMessage[]> {
  const answer = await fetch(`${urlOf(node)}/helix/eventsub/subscriptions?status=${status}`, {
    headers: { Authorization: `Bearer ${token}`, Connection: 'close' },
  })
  return ((await answer.json()) as { data: SocketMessage[] }).data
}

/** A client that connects again when it is asked to, and closes its former connection after that. */
class MovingClient {
  readonly first: EventClient
  readonly #connections: EventClient[]
  #isClosing = false
  isOver = false

  constructor(first: EventClient) {
    this.first = first
    this.#connections = [first]
  }

  /** The titles of all events received, in the order of the connections. */
  get titles(): string[] {
    return this.#connections.flatMap(({ messages }) =>
      messages
        .filter(({ metadata }) => metadata.message_type === 'notification')
        .map(({ payload }) => payload.event.title),
    )
  }

  get moves(): number {
    return this.#connections.length - 1
  }

  get ended(): unknown {
    return this.#connections.at(-1)?.closed
  }

  /** Until the connection ends without a request to move. */
  async follow(): Promise<void> {
    let current = this.first
    for (;;) {
      const request = () => current.messages.find(each => each.metadata.message_type === 'session_reconnect')
      await current.until(() => current.ended || request() !== undefined)
      const message = request()
      if (message === undefined) break
      const next = await connected(message.payload.session.reconnect_url)
      this.#connections.push(next)
      current.close()
      current = next
    }
    if (!this.#isClosing) this.isOver = true
  }

  close(): void {
    this.#isClosing = true
    this.#connections.at(-1)?.close()
  }
}

/** Asks again while a node is stopping or starting. */
async function connected(url: string): Promise<EventClient> {
  for (;;) {
    const client = await EventClient.connect(url)
    if (client.status === 101) {
      await client.message('session_welcome')
      return client
    }
    client.destroy()
    await Bun.sleep(100)
  }
}
