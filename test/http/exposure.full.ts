/** The operator's side stays hidden behind a proxy that passes everything on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ProxyProcess, pathOfProxy, startProxy } from '../support/proxies/proxy-process.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

describe.skipIf(pathOfProxy.nginx === undefined)('behind a real nginx that passes everything on', () => {
  let server: TestServer
  let proxy: ProxyProcess
  beforeAll(async () => {
    server = await startTestServer('sqlite')
    const port = Number(new URL(server.url).port)
    proxy = await startProxy('nginx', [port, port])
  })
  afterAll(async () => {
    await proxy.stop()
    await server.stop()
  })

  test("404 on the operator's side, also by a path with dots, and with the token", async () => {
    for (const path of ['/control/users', '/metrics', '/helix/../control/users', '/helix/%2e%2e/metrics']) {
      const answer = await fetch(`${proxy.url}${path}`, {
        headers: { Authorization: `Bearer ${server.world.operator_token}` },
      })
      expect([path, answer.status]).toEqual([path, 404])
    }
    expect((await fetch(`${proxy.url}/helix/streams`)).status).toBe(200)
  })
})
