/** What the proxies of deploy/ send again, and to whom: nodes that only count stand behind them. */
import { afterEach, describe, expect, test } from 'bun:test'
import { PROXIES } from '../support/proxies/proxies.ts'
import {
  type ProxyProcess,
  pathOfProxy,
  startControlProxy,
  startProxy,
} from '../support/proxies/proxy-process.ts'
import { startTestServer } from '../support/server.ts'

interface CountingNode {
  readonly port: number
  /** `GET /helix/streams` and the like, one for each time that it was asked. */
  readonly asked: string[]
  stop(): Promise<void>
}

const started: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of started.splice(0).reverse()) await each.stop()
})

/** Healthy by its probes; everything else is answered by `answer`. */
function startNode(answer: () => Response | Promise<Response>): CountingNode {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: request => {
      // A probe may have no host in it.
      const pathname = request.url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/, '')
      if (pathname === '/healthz' || pathname === '/readyz') return new Response('{}')
      asked.push(`${request.method} ${pathname}`)
      return answer()
    },
  })
  const node = { port: server.port ?? 0, asked, stop: () => server.stop(true) }
  started.push(node)
  return node
}

const unavailable = () =>
  new Response('{"error":"Service Unavailable","status":503,"message":"away"}', {
    status: 503,
    headers: { 'Retry-After': '1' },
  })

const json = { 'Content-Type': 'application/json' }
const PASSED_ON: readonly (readonly [what: string, path: string, init?: RequestInit])[] = [
  ['reads of the store', '/helix/entitlements/drops?first=5'],
  ['reads of a key', '/helix/streams/key?broadcaster_id=1'],
  ['reads of markers', '/mock/streams/markers?user_id=1'],
  ['updates of entitlements', '/helix/entitlements/drops', { method: 'PATCH', headers: json, body: '{}' }],
  [
    'markers with a key',
    '/helix/streams/markers',
    { method: 'POST', headers: { ...json, 'Idempotency-Key': 'one' }, body: '{"user_id":"1"}' },
  ],
  ['markers without a key', '/helix/streams/markers', { method: 'POST', headers: json, body: '{}' }],
  ['tokens', '/oauth2/token', { method: 'POST', headers: json, body: '{}' }],
]
const ASKED_ELSEWHERE = [
  '/helix/streams?after=x',
  '/helix/streams/followed?user_id=1',
  '/mock/streams?first=1',
]

for (const name of PROXIES) {
  describe.skipIf(pathOfProxy[name] === undefined)(`a 503 behind ${name}`, () => {
    async function startBehind(answer: () => Response | Promise<Response>) {
      const nodes = [startNode(answer), startNode(answer)] as const
      const proxy: ProxyProcess = await startProxy(name, [nodes[0].port, nodes[1].port])
      started.push(proxy)
      return { proxy, nodes, count: () => nodes.reduce((sum, { asked }) => sum + asked.length, 0) }
    }

    test('is passed on, and nothing is sent twice', async () => {
      const { proxy, count } = await startBehind(unavailable)
      for (const [what, path, init] of PASSED_ON) {
        const before = count()
        const answer = await fetch(`${proxy.url}${path}`, init)
        expect([what, answer.status, answer.headers.get('retry-after')]).toEqual([what, 503, '1'])
        expect([what, count() - before]).toEqual([what, 1])
      }
    })

    test('to a page of the directory: the other node is asked', async () => {
      const away = startNode(unavailable)
      const other = startNode(() => new Response('{"data":[]}', { headers: json }))
      const proxy = await startProxy(name, [away.port, other.port])
      started.push(proxy)
      for (const path of ASKED_ELSEWHERE) {
        for (let turn = 0; turn < 4; turn++) {
          expect([path, (await fetch(`${proxy.url}${path}`)).status]).toEqual([path, 200])
        }
      }
      expect(away.asked.length).toBeGreaterThan(0)
    })

    test('that comes late, because the primary is frozen, reaches the client: no connection is reset', async () => {
      const { proxy, count } = await startBehind(async () => {
        await Bun.sleep(3000)
        return unavailable()
      })
      const before = count()
      const statuses = await Promise.all(
        PASSED_ON.flatMap(([, path, init]) =>
          Array.from({ length: 5 }, () => fetch(`${proxy.url}${path}`, init).then(answer => answer.status)),
        ),
      )
      expect(new Set(statuses)).toEqual(new Set([503]))
      expect(count() - before).toBe(statuses.length)
    })
  })
}

describe.skipIf(pathOfProxy.nginx === undefined)('the control API behind nginx-control.conf', () => {
  test('200 for operators, an export and its import; 404 for everything else', async () => {
    const server = await startTestServer('sqlite', {
      config: { operatorListen: { host: '127.0.0.1', port: 0 } },
    })
    started.push(server)
    const proxy = await startControlProxy(Number(new URL(server.strand.controlUrl).port))
    started.push(proxy)
    const headers = { Authorization: `Bearer ${server.world.operator_token}` }
    expect((await fetch(`${proxy.url}/control/users`, { headers })).status).toBe(200)
    expect((await fetch(`${proxy.url}/control/users`)).status).toBe(401)
    const exported = await fetch(`${proxy.url}/control/export`, { headers })
    expect(exported.status).toBe(200)
    // Longer than any other body may be.
    const lines = (await exported.text()) + '\n'.repeat(5 * 1024 * 1024)
    const imported = await fetch(`${proxy.url}/control/import`, { method: 'POST', headers, body: lines })
    expect(imported.status).toBe(200)
    for (const path of ['/helix/streams', '/login', '/docs']) {
      expect([path, (await fetch(`${proxy.url}${path}`)).status]).toEqual([path, 404])
    }
  })
})
