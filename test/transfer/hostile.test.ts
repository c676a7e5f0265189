/** What no client sends by mistake, and what happens to those who go away: nothing is changed, little is held, the next is served. */
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { readLine } from '../../src/transfer/read-line.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const userLine = (id: number) => `{"type":"user","id":"${id}","login":"comes_and_goes_${id}"}\n`

async function isThere(server: TestServer, id: number): Promise<boolean> {
  const path = `/control/users/${id}`
  return (await server.call({ path, token: server.world.operator_token })).status === 200
}

/** Begins an import on a raw connection and hangs up before its end. */
async function hangUp(server: TestServer, query: string, head: string, body: string): Promise<void> {
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  await new Promise(resolve => socket.once('connect', resolve))
  const lines = [`POST /control/import${query} HTTP/1.1`, 'Host: localhost', head]
  socket.write(`${lines.join('\r\n')}\r\nAuthorization: Bearer ${server.world.operator_token}\r\n\r\n${body}`)
  await Bun.sleep(50)
  socket.destroy()
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(5)
}

/** Whatever stands in front of several nodes here reads a body to its end before it passes it on. */
const straight = test.skipIf(Number(process.env.TEST_NODES || 1) > 1)
test('a client that would have people sent to a script is refused, with the place of the URI', () => {
  const line = (...redirect_uris: string[]) =>
    JSON.stringify({ type: 'client', id: 'app', name: 'App', redirect_uris })
  expect(() => readLine(line('com.example.app:/cb'))).not.toThrow()
  expect(() => readLine(line('com.example.app:/cb', 'javascript:1'))).toThrow(
    'the field "redirect_uris" was malformed: entry 2 must be an absolute URI',
  )
})

onEachStore('hostile imports', {}, server => {
  straight('a line of 100 MB without an end is refused at once, with its number', async () => {
    let sent = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(userLine(1))
      const piece = new Uint8Array(64 * 1024).fill(0x78)
      for (; sent < 100 * 1024 * 1024; sent += piece.length) yield piece
    }
    const response = await fetch(`${server().url}/control/import`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${server().world.operator_token}` },
      body: endless() as unknown as ReadableStream,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { message: string }).message).toBe(
      'Line 2: it is longer than 262144 bytes. Nothing was changed.',
    )
    expect(sent).toBeLessThan(50 * 1024 * 1024)
    expect(await isThere(server(), 1)).toBe(false)
  })

  for (const [title, head, body] of [
    ['a length that is not reached', 'Content-Length: 100000', userLine(2)],
    [
      'chunks without an end',
      'Transfer-Encoding: chunked',
      `${userLine(2).length.toString(16)}\r\n${userLine(2)}\r\n`,
    ],
  ] as const) {
    for (const query of ['', '?continue=true']) {
      straight(`a client that goes away in the middle changes nothing: ${title} ${query}`, async () => {
        const before = server().logLines.length
        await hangUp(server(), query, head, body)
        const cutOff = () =>
          server()
            .logLines.slice(before)
            .some(line => line.includes('"problem":"wrong_line"'))
        await until(cutOff)
        expect(await isThere(server(), 2)).toBe(false)
      })
    }
  }

  test('nothing of a body stays in the data folder', () => {
    const folder = server().strand.services.spoolFolder
    expect(readdirSync(folder).filter(name => name.includes('spool'))).toEqual([])
  })

  test('a reader that takes nothing of an export holds no other up', async () => {
    const { port } = new URL(server().url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise(resolve => socket.once('connect', resolve))
    socket.pause()
    socket.write(
      `GET /control/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server().world.operator_token}\r\n\r\n`,
    )
    const id = 77
    await server().control('PUT', `/users/${id}`, { login: 'meanwhile' })
    expect(await isThere(server(), id)).toBe(true)
    socket.destroy()
  })
})
