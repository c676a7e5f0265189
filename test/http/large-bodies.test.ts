/** A body that is too large gets the error of its family, however large it is announced and whichever listener it reaches. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startTestServer, type TestServer } from '../support/server.ts'

const SIZES = ['70000', '20000000', '3000000000', '2000000000000', '9007199254740000']

/** The status, headers and body of the answer to a request that announces a body and sends the beginning of it. */
function announce(url: string, request: string, bytes: string): Promise<{ status: number; body: string }> {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.on('data', piece => {
      received += piece
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
      if (body.length < length) return
      socket.destroy()
      resolve({ status: Number(head.slice(9, 12)), body })
    })
    socket.on('close', () => reject(new Error(`closed after: ${received}`)))
    socket.write(`${request}\r\nHost: ${host}\r\nContent-Length: ${bytes}\r\n\r\n{"a":"`)
  })
}

describe('with separate listeners', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { operatorListen: { host: '127.0.0.1', port: 0 } } })
  })
  afterAll(() => server.stop())

  test.each(SIZES)('413 body_too_large with its fields, for %s bytes', async bytes => {
    const { url, world, strand } = server
    const json = 'Content-Type: application/json'
    const bearer = (token: string) => `Authorization: Bearer ${token}\r\n${json}`
    const helix = `PATCH /helix/entitlements/drops HTTP/1.1\r\n${bearer(world.client.app_token)}`
    const control = `POST /control/organizations HTTP/1.1\r\n${bearer(world.operator_token)}`
    for (const [at, request, fields] of [
      [url, helix, ['error', 'status', 'message']],
      [url, `POST /oauth2/token HTTP/1.1\r\n${json}`, ['status', 'message']],
      [strand.controlUrl, control, ['error', 'status', 'message']],
    ] as const) {
      const limit = request === control ? 4 * 1024 * 1024 : 64 * 1024
      if (Number(bytes) <= limit) continue
      const { status, body } = await announce(at, request, bytes)
      expect([status, Object.keys(JSON.parse(body))]).toEqual([413, [...fields]])
    }
  })
})
