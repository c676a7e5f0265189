/** Where callbacks of media servers are answered: where the control API is, and nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestServer, type TestServer } from '../support/server.ts'

const EVENT = JSON.stringify({ event: 'end', session: 'x' })

describe('callbacks', () => {
  let shared: TestServer
  let secret = ''
  beforeAll(async () => {
    shared = await startTestServer('sqlite')
    const [server] = (await shared.control('PUT', '/media-servers/any', { adapter: 'generic' })) as [
      { secret: string },
    ]
    ;({ secret } = server)
  })
  afterAll(() => shared.stop())

  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/ingest/generic/any/${secret}`, { method: 'POST', body: EVENT, headers })).status

  test('200 on a loopback listener, 404 through a proxy and with a public host name', async () => {
    expect(await status(shared.url)).toBe(200)
    expect(await status(shared.url, { 'X-Forwarded-For': '192.0.2.7' })).toBe(404)
    expect(await status(shared.url, { Host: 'strand.example.org' })).toBe(404)
  })

  test('404 on the public listener beside an operator listener, which answers them', async () => {
    const config = { operatorListen: { host: '127.0.0.1', port: 0 } }
    const separate = await startTestServer('sqlite', { config })
    const operatorUrl = separate.strand.controlUrl.replace(/\/control$/, '')
    const response = await fetch(`${separate.strand.controlUrl}/media-servers/any`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${separate.strand.operatorToken}` },
      body: JSON.stringify({ adapter: 'generic' }),
    })
    const { data } = (await response.json()) as { data: { secret: string }[] }
    secret = data[0]?.secret ?? ''
    expect([await status(separate.url), await status(operatorUrl)]).toEqual([404, 200])
    await separate.stop()
  })
})
