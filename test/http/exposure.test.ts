/** The operator's side is where the operator put it, and nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestServer, type TestServer } from '../support/server.ts'

const HERE = ['localhost', '127.0.0.1:8080', '[::1]:8080', 'LOCALHOST:1', 'strand.localhost']
const ELSEWHERE = [
  'api.example.org',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '',
]
const MARKS = ['X-Forwarded-For', 'Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP', 'Via']
const OPERATORS = ['/control/users', '/metrics']

describe('on one loopback listener', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite')
  })
  afterAll(() => server.stop())

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, {
      headers: { Authorization: `Bearer ${server.world.operator_token}`, ...headers },
    })

  test("200 on the operator's side for programs on this machine", async () => {
    for (const path of OPERATORS) {
      for (const Host of HERE)
        expect([path, Host, (await ask(path, { Host })).status]).toEqual([path, Host, 200])
    }
  })

  test('404 on it through a proxy, or under a foreign name; the log states what to do', async () => {
    for (const path of OPERATORS) {
      for (const mark of MARKS)
        expect([mark, (await ask(path, { [mark]: '203.0.113.9' })).status]).toEqual([mark, 404])
      for (const Host of ELSEWHERE) expect([Host, (await ask(path, { Host })).status]).toEqual([Host, 404])
    }
    const warnings = server.logLines.filter(line => line.includes('STRAND_OPERATOR_LISTEN'))
    expect(warnings).toHaveLength(1)
  })

  test('what is refused looks like what is not there', async () => {
    const bodyOf = async (path: string) => {
      const answer = await ask(path, { 'X-Forwarded-For': '203.0.113.9' })
      return [answer.status, answer.headers.get('content-type'), await answer.text()]
    }
    const nothing = await bodyOf('/nothing/here')
    for (const path of OPERATORS) expect(await bodyOf(path)).toEqual(nothing)
  })

  test('200 on the public side, however it comes', async () => {
    for (const path of ['/helix/streams', '/healthz', '/readyz', '/openapi.json', '/docs']) {
      const answer = await fetch(`${server.url}${path}`, {
        headers: { Host: 'api.example.org', 'X-Forwarded-For': '203.0.113.9' },
      })
      expect([path, answer.status]).toEqual([path, 200])
    }
  })
})

describe('on a separate listener', () => {
  let server: TestServer
  let operatorUrl: string
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { operatorListen: { host: '127.0.0.1', port: 0 } } })
    operatorUrl = server.strand.controlUrl.replace(/\/control$/, '')
  })
  afterAll(() => server.stop())

  const statusOf = async (url: string) =>
    (await fetch(url, { headers: { Authorization: `Bearer ${server.world.operator_token}` } })).status

  test("404 on the public one for the operator's side, and the other way round", async () => {
    for (const path of OPERATORS) {
      expect([path, await statusOf(server.url + path)]).toEqual([path, 404])
      expect([path, await statusOf(operatorUrl + path)]).toEqual([path, 200])
    }
    for (const path of ['/helix/streams', '/oauth2/validate', '/account'])
      expect([path, await statusOf(operatorUrl + path)]).toEqual([path, 404])
  })

  test('health is on both', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect(await statusOf(server.url + path)).toBe(200)
      expect(await statusOf(operatorUrl + path)).toBe(200)
    }
  })

  test('200 there also for what comes through a proxy: the operator put one there', async () => {
    const headers = { Host: 'strand.internal', 'X-Forwarded-For': '203.0.113.9' }
    expect((await fetch(`${operatorUrl}/metrics`, { headers })).status).toBe(200)
  })
})
