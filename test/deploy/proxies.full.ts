/** Two nodes on one PostgreSQL behind the proxies of deploy/, and what their clients notice of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Node, startTwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import type { Cable } from '../support/proxies/cable.ts'
import { PROXIES, type ProxyName } from '../support/proxies/proxies.ts'
import { type ProxyProcess, pathOfProxy, startProxy } from '../support/proxies/proxy-process.ts'
import { FLOOD, FRAMINGS, sendEndless } from '../support/server/endless.ts'
import { EventClient } from '../support/server/event-client.ts'
import { engines, type StorePlace } from '../support/server.ts'

const CHANNELS = 60
const BROADCASTER = '1000'
const REQUESTS_A_SECOND = 150
/** In progress through one proxy, at most: a busy machine is asked less. */
const CONCURRENCY = 8
/** More of them make a longer search for a rare failure. */
const RESTARTS = Number(process.env.TEST_RESTARTS || 1)

const available = engines.includes('postgres') ? PROXIES.filter(name => pathOfProxy[name] !== undefined) : []

let place: StorePlace
let cables: readonly Cable[] = []
let nodes: readonly [Node, Node]
const proxies = new Map<ProxyName, ProxyProcess>()
/** Of a client with an organization, for drops; and of a broadcaster, for markers. */
let appToken = ''
let userToken = ''
let clientId = ''
let entitlementIds: string[] = []

beforeAll(async () => {
  if (available.length === 0) return
  ;({ place, cables, nodes } = await startTwoNodes())
  await settle(nodes[0])
  for (const name of available) proxies.set(name, await startProxy(name, [nodes[0].port, nodes[1].port]))
})

afterAll(async () => {
  await Promise.all([...proxies.values()].map(proxy => proxy.stop()))
  await endAllProcesses()
  await Promise.all(cables.map(cable => cable.close()))
  await place?.remove()
})

/** People who are live, a client, its tokens and some entitlements. */
async function settle(node: Node): Promise<void> {
  const { id: organization_id } = await node.control('POST', '/organizations', { name: 'Harbor Games' })
  const { id: game_id } = await node.control('POST', '/games', { name: 'Tidefall', organization_id })
  const benefit = await node.control('POST', '/benefits', { name: 'Coral lantern', organization_id, game_id })
  for (let n = 0; n < CHANNELS; n++) {
    const id = String(1000 + n)
    await node.control('PUT', `/users/${id}`, { login: `channel_${n}` })
    await node.control('PATCH', `/channels/${id}`, { game_id, vod_enabled: true })
    await node.control('PUT', `/channels/${id}/stream`, { viewer_count: n })
  }
  const client = await node.control('POST', '/clients', { name: 'Harbor back end', organization_id })
  clientId = client.id
  appToken = (await node.control('POST', '/tokens', { client_id: client.id })).access_token
  const scopes = ['channel:manage:broadcast']
  const user = await node.control('POST', '/tokens', { client_id: client.id, user_id: BROADCASTER, scopes })
  userToken = user.access_token
  entitlementIds = Array.from({ length: 50 }, () => crypto.randomUUID())
  const grants = entitlementIds.map(id => ({ id, user_id: BROADCASTER, benefit_id: benefit.id, game_id }))
  await node.control('POST', '/entitlements', { grants })
}

/** Every channel gets another count, again and again: the places of a walk would be other ones with every page. */
async function moveViewers(node: Node, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const counts = Object.fromEntries(everyone.map((id, n) => [id, (n * 37 + turn * 11) % 61]))
    await node.control('POST', '/viewers', { counts })
    await Bun.sleep(20)
  }
}

interface Page {
  readonly data: readonly { user_id: string }[]
  readonly pagination: { readonly cursor?: string }
}

async function pageOf(url: string, after?: string): Promise<Page> {
  const answer = await fetch(`${url}/helix/streams?first=7${after === undefined ? '' : `&after=${after}`}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Page
}

/** Walks on to the end; gives whom it met. */
async function walkOn(url: string, { data, pagination }: Page): Promise<string[]> {
  const met = data.map(stream => stream.user_id)
  return pagination.cursor === undefined
    ? met
    : [...met, ...(await walkOn(url, await pageOf(url, pagination.cursor)))]
}

const everyone = Array.from({ length: CHANNELS }, (_, n) => String(1000 + n))
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

function updateEntitlements(url: string, turn: number): Promise<Response> {
  return fetch(`${url}/helix/entitlements/drops`, {
    method: 'PATCH',
    headers: { ...bearer(appToken), 'Content-Type': 'application/json' },
    body: JSON.stringify({
      entitlement_ids: [entitlementIds[turn % entitlementIds.length]],
      fulfillment_status: turn % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
    }),
  })
}

function createMarker(url: string, key: string): Promise<Response> {
  return fetch(`${url}/helix/streams/markers`, {
    method: 'POST',
    headers: { ...bearer(userToken), 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ user_id: BROADCASTER }),
  })
}

/** Reads and writes that may be repeated, at a steady rate if the machine keeps up, until it is stopped. */
class Load {
  readonly failures: string[] = []
  answered = 0
  readonly #url: string
  readonly #name: string
  readonly #timer: Timer
  readonly #underWay = new Set<Promise<void>>()
  #sent = 0

  constructor({ name, url }: ProxyProcess) {
    this.#name = name
    this.#url = url
    let last = performance.now()
    this.#timer = setInterval(() => {
      // What this process was too busy to send is not sent at once: a burst is another question.
      const due = Math.min(
        CONCURRENCY - this.#underWay.size,
        Math.floor(((performance.now() - last) / 1000) * REQUESTS_A_SECOND),
      )
      if (due <= 0) return
      last = performance.now()
      for (let n = 0; n < due; n++) this.#send(this.#sent++)
    }, 5)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#underWay)
  }

  #send(turn: number): void {
    const began = new Date().toISOString()
    const fail = (text: string) => this.failures.push(`${began} request ${turn}: ${text}`)
    const sent = this.#ask(turn).then(
      async answer => {
        const text = await answer.text()
        if (answer.ok) this.answered += 1
        else fail(`${answer.status} ${text.slice(0, 200)}`)
      },
      error => void fail(String(error)),
    )
    const done = sent.then(() => {
      this.#underWay.delete(done)
    })
    this.#underWay.add(done)
  }

  #ask(turn: number): Promise<Response> {
    const url = this.#url
    switch (turn % 5) {
      case 0:
        return updateEntitlements(url, turn)
      case 1:
        return createMarker(url, `${this.#name}-${turn}`)
      case 2:
        return fetch(`${url}/helix/entitlements/drops?first=5`, { headers: bearer(appToken) })
      case 3:
        return fetch(`${url}/helix/streams?user_login=channel_${turn % CHANNELS}`)
      default:
        return fetch(`${url}/helix/streams?first=20`)
    }
  }
}

for (const name of PROXIES) {
  describe.skipIf(!available.includes(name))(`two nodes behind ${name}`, () => {
    const proxy = () => proxies.get(name) as ProxyProcess

    test('200 for the longest request that is legal', async () => {
      const query = new URLSearchParams({ first: '100' })
      for (let n = 0; n < 100; n++) {
        query.append('user_id', String(9_000_000_000_000_000_000n + BigInt(n)))
        query.append('user_login', `channel_${n}`.padEnd(25, '_'))
        query.append('game_id', String(9_100_000_000_000_000_000n + BigInt(n)))
      }
      expect(query.toString().length).toBeGreaterThan(9000)
      const answer = await fetch(`${proxy().url}/helix/streams?${query}`)
      expect([answer.status, await answer.json()]).toEqual([200, { data: [], pagination: {} }])
    })

    test('413 in the form of the API for a body that is too large, announced or in chunks', async () => {
      const text = 'x'.repeat(64 * 1024 + 1)
      for (const [method, path] of [
        ['PATCH', '/helix/entitlements/drops'],
        ['POST', '/helix/streams/markers'],
        ['POST', '/oauth2/token'],
      ] as const) {
        const token = path.endsWith('markers') ? userToken : appToken
        for (const body of [text, new Blob([text]).stream()]) {
          const answer = await fetch(`${proxy().url}${path}`, { method, headers: bearer(token), body })
          const message = 'The body must be at most 65536 bytes.'
          const error = path.startsWith('/helix') && { error: 'Payload Too Large' }
          expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
            path,
            413,
            'application/json',
          ])
          expect(await answer.json()).toEqual({ ...error, status: 413, message })
        }
      }
    })

    test('413 or cut off: a body without end, through the proxy', async () => {
      const port = Number(new URL(proxy().url).port)
      for (const framing of FRAMINGS) {
        const headers = ['Content-Type: application/x-www-form-urlencoded']
        const outcome = await sendEndless(
          { port, method: 'POST', target: '/login', framing, headers },
          { ...FLOOD, bytesAfterAnswer: 10_000_000 },
        )
        expect([framing, outcome.status ?? 413, outcome.sentBytes < FLOOD.mostBytes]).toEqual([
          framing,
          413,
          true,
        ])
      }
    })

    test('200: a walk gets its pages from both nodes and is whole', async () => {
      const before = nodes.map(node => node.answered('GetStreams'))
      const met = await walkOn(proxy().url, await pageOf(proxy().url))
      expect(met.toSorted()).toEqual(everyone)
      for (const [index, node] of nodes.entries()) {
        expect(node.answered('GetStreams')).toBeGreaterThan(before[index] ?? 0)
      }
    })

    test('200, then 401 within a second: a token is good on both nodes, and ended on both', async () => {
      const { access_token: token } = await nodes[0].control('POST', '/tokens', { client_id: clientId })
      const ask = () => fetch(`${proxy().url}/helix/entitlements/drops?first=1`, { headers: bearer(token) })
      for (let n = 0; n < 10; n++) expect((await ask()).status).toBe(200)
      await nodes[0].control('DELETE', '/tokens', { token })
      const ended = performance.now()
      for (let inARow = 0; inARow < 10; ) {
        const sent = performance.now()
        inARow = (await ask()).status === 401 ? inARow + 1 : 0
        if (inARow === 0) expect(sent - ended).toBeLessThan(1000)
      }
    })

    test('101 for a WebSocket: an event that happens on one node arrives, whichever node the client uses', async () => {
      const client = await EventClient.connect(`${proxy().url}/ws`)
      const transport = { method: 'websocket', session_id: await client.sessionId() }
      const created = await fetch(`${proxy().url}/helix/eventsub/subscriptions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${userToken}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          type: 'channel.update',
          version: '2',
          condition: { broadcaster_user_id: BROADCASTER },
          transport,
        }),
      })
      expect(created.status).toBe(202)
      for (const [index, node] of nodes.entries()) {
        const title = `through ${name} ${index}`
        await node.control('PATCH', `/channels/${BROADCASTER}`, { title })
        const { payload } = await client.message('notification', index)
        expect(payload.event.title).toBe(title)
      }
      client.close()
    })

    test("404 for the operator's side", async () => {
      for (const path of ['/control/users', '/helix/../control/users', '/helix/%2e%2e/control/users']) {
        const answer = await fetch(`${proxy().url}${path}`, { headers: bearer('anything') })
        expect([path, answer.status]).toEqual([path, 404])
      }
    })

    test("200 from a node that gets the client's address behind what the client claimed", async () => {
      const seen: string[] = []
      const node = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ headers }) => {
          seen.push(headers.get('x-forwarded-for') ?? '')
          return new Response()
        },
      })
      const port = node.port ?? 0
      const inFront = await startProxy(name, [port, port])
      try {
        const headers = { 'X-Forwarded-For': '203.0.113.9' }
        expect((await fetch(`${inFront.url}/helix/streams`, { headers })).status).toBe(200)
        expect(seen.at(-1)).toMatch(/^203\.0\.113\.9, ?127\.0\.0\.1$/)
      } finally {
        await inFront.stop()
        await node.stop(true)
      }
    })
  })
}

describe.skipIf(available.length === 0)('two nodes behind all proxies', () => {
  /** Everything sent meanwhile through any of the proxies must succeed. */
  async function underLoad(work: () => Promise<void>): Promise<void> {
    const loads = new Map([...proxies].map(([name, proxy]) => [name, new Load(proxy)]))
    await Bun.sleep(1000)
    await work()
    await Bun.sleep(2000)
    for (const [name, load] of loads) {
      await load.stop()
      expect([name, load.failures]).toEqual([name, []])
      expect(load.answered).toBeGreaterThan(2 * REQUESTS_A_SECOND)
    }
  }

  test('200 throughout a rolling restart, and cursors and tokens from before it stay good', async () => {
    const begun = new Map<ProxyProcess, Page>()
    for (const proxy of proxies.values()) begun.set(proxy, await pageOf(proxy.url))
    await underLoad(async () => {
      for (let round = 0; round < RESTARTS; round++) {
        for (const node of nodes) {
          expect(await node.stop()).toBe(0)
          await node.start()
          for (const proxy of proxies.values()) await node.untilBehind(proxy)
        }
      }
    })
    for (const [{ url }, page] of begun) expect((await walkOn(url, page)).toSorted()).toEqual(everyone)
  }, 600_000)

  test('200 for all that may be repeated when a node is killed', async () => {
    await underLoad(async () => {
      for (let round = 0; round < RESTARTS; round++) {
        for (const node of nodes) {
          await node.stop('SIGKILL')
          await Bun.sleep(1000)
          await node.start()
          for (const proxy of proxies.values()) await node.untilBehind(proxy)
        }
      }
    })
  }, 600_000)

  test('200 for every page of walks that are whole while one node alone does not reach the store', async () => {
    let isOver = false
    const moving = moveViewers(nodes[0], () => isOver)
    cables[1]?.plug()
    const end = performance.now() + 12_000
    const walking = [...proxies.values()].map(async ({ name, url }) => {
      let walks = 0
      for (; performance.now() < end; walks++) {
        const met = await walkOn(url, await pageOf(url))
        expect([name, met.toSorted()]).toEqual([name, everyone])
      }
      return walks
    })
    try {
      for (const walks of await Promise.all(walking)) expect(walks).toBeGreaterThan(2)
    } finally {
      isOver = true
      cables[1]?.mend()
      await moving
    }
    while (!(await nodes[1].isReady())) await Bun.sleep(50)
  })

  test('200 for the directory and 503 for writes while no node reaches the store', async () => {
    for (const cable of cables) cable.cut()
    try {
      while ((await Promise.all(nodes.map(node => node.isReady()))).includes(true)) await Bun.sleep(50)
      // Longer than a proxy needs to notice that no node is ready.
      for (const until = performance.now() + 4000; performance.now() < until; await Bun.sleep(50)) {
        for (const { name, url } of proxies.values()) {
          expect([name, (await fetch(`${url}/helix/streams`)).status]).toEqual([name, 200])
        }
      }
      for (const { name, url } of proxies.values()) {
        const answer = await updateEntitlements(url, 0)
        expect([name, answer.status, answer.headers.has('retry-after')]).toEqual([name, 503, true])
      }
    } finally {
      for (const cable of cables) cable.mend()
    }
    while ((await Promise.all(nodes.map(node => node.isReady()))).includes(false)) await Bun.sleep(50)
    for (const { name, url } of proxies.values()) {
      expect([name, (await updateEntitlements(url, 0)).status]).toEqual([name, 200])
    }
  })
})
