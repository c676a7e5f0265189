/** Calls for the hosts of the real API, in Bun and in Node, from libraries that do not know of the test server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https, { get as getByName } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { attachStrand, type RunningStrand, startStrand } from '../../src/testing/start-strand.ts'
import { ROOT } from '../support/cli/strand-process.ts'

const STREAMS = 'https://api.twitch.tv/helix/streams?first=1'

/** Sends a request by node:http or node:https and returns the status. */
function statusOf(request: http.ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    request.on('response', response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
    request.end()
  })
}

/** The type of the first message. */
function welcomedBy(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.onmessage = ({ data }) => {
      resolve(JSON.parse(String(data)).metadata.message_type)
      socket.close()
    }
    socket.onerror = event => reject(event)
  })
}

/** Accepts connections, and returns the bytes of each without an answer. */
async function recordBytes(send: (url: string) => Promise<unknown>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = createServer(socket => {
    let received = ''
    socket.on('data', data => {
      received += data
      if (!received.endsWith('end of body')) return
      resolve(received)
      socket.destroy()
    })
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as { port: number }
  await send(`http://127.0.0.1:${port}/helix/streams`).catch(() => undefined)
  server.close()
  return (await promise).replaceAll(String(port), 'PORT')
}

describe('in Bun', () => {
  const original = { fetch, WebSocket, connect: tls.connect }
  let strand: RunningStrand
  beforeAll(async () => {
    strand = await startStrand({ streams: 1, intercept: true })
  })
  afterAll(() => strand.stop())

  test('fetch with a string, a URL and a Request, with method, headers and body', async () => {
    expect((await fetch(STREAMS)).status).toBe(200)
    expect((await fetch(new URL(STREAMS))).status).toBe(200)
    const { id, secret } = strand.client
    const body = new URLSearchParams({
      client_id: id,
      client_secret: secret,
      grant_type: 'client_credentials',
    })
    const token = 'https://id.twitch.tv/oauth2/token'
    const answers = [
      await fetch(new Request(token, { method: 'POST', body })),
      await fetch(token, { method: 'POST', body }),
      await fetch(new Request(token, { method: 'GET' }), { method: 'POST', body }),
    ]
    for (const answer of answers)
      expect(await answer.json()).toMatchObject({ access_token: expect.any(String) })
    const [call] = (await strand.requests.list({ operation: 'CreateToken' })).slice(-1)
    expect(call).toMatchObject({ headers: { host: 'id.twitch.tv' } })
  })

  test('node:https and node:http, with and without an agent', async () => {
    expect(await statusOf(https.get(STREAMS))).toBe(200)
    expect(await statusOf(getByName(STREAMS))).toBe(200)
    const agent = new https.Agent({ keepAlive: true })
    for (let call = 0; call < 2; call++)
      expect(
        await statusOf(https.request({ hostname: 'api.twitch.tv', path: '/helix/streams', agent })),
      ).toBe(200)
    agent.destroy()
    expect(await statusOf(http.get('http://api.twitch.tv/helix/streams'))).toBe(200)
  })

  test('WebSocket', async () => {
    expect(await welcomedBy('wss://eventsub.wss.twitch.tv/ws?keepalive_timeout_seconds=30')).toBe(
      'session_welcome',
    )
  })

  test('a URL in an answer leads to the same server', async () => {
    const { id } = strand.client
    const body = new URLSearchParams({ client_id: id, scopes: 'user:read:follows' })
    const answer = await fetch('https://id.twitch.tv/oauth2/device', { method: 'POST', body })
    const { verification_uri } = (await answer.json()) as { verification_uri: string }
    expect(verification_uri).toStartWith(strand.url)
    expect((await fetch(verification_uri)).status).toBe(200)
  })

  test('another host, another port and the control API are not reached by it', async () => {
    const before = await strand.requests.count()
    for (const url of [
      'https://www.twitch.invalid/helix/streams',
      'https://api.twitch.tv.invalid/helix/streams',
    ])
      await expect(fetch(url)).rejects.toThrow()
    const lookup = () => {
      throw new Error('the real host is meant')
    }
    for (const request of [
      () => https.get('https://api.twitch.tv:1443/helix/streams', { lookup }),
      () => http.get('http://api.twitch.tv:8080/helix/streams', { lookup }),
    ])
      await expect((async () => statusOf(request()))()).rejects.toThrow('the real host is meant')
    expect(await strand.requests.count()).toBe(before)
    const headers = { Authorization: `Bearer ${strand.world.operator_token}` }
    expect((await fetch('https://api.twitch.tv/control/users', { headers })).status).toBe(404)
  })

  test('what is sent elsewhere is the same byte for byte', async () => {
    const init = { method: 'POST', headers: { 'X-Odd': 'a, b' }, body: 'end of body' }
    const byHttp = (url: string) =>
      statusOf(http.request(url, { method: 'POST', headers: { 'X-Odd': 'a, b' } }).end('end of body'))
    const during = [await recordBytes(url => fetch(url, init)), await recordBytes(byHttp)]
    await strand.stop()
    const after = [await recordBytes(url => fetch(url, init)), await recordBytes(byHttp)]
    expect(during).toEqual(after)
    strand = await startStrand({ streams: 1, intercept: true })
  })

  test('one server at a time; stop() restores everything', async () => {
    await expect(startStrand({ streams: 1, intercept: true })).rejects.toThrow(
      `calls are intercepted for ${strand.url} already`,
    )
    await strand.stop()
    expect([fetch, WebSocket, tls.connect]).toEqual([original.fetch, original.WebSocket, original.connect])
    strand = await startStrand({ streams: 1 })
    expect(fetch).toBe(original.fetch)
    const attached = await attachStrand({ world: strand.world, intercept: true })
    expect((await fetch(STREAMS)).status).toBe(200)
    await attached.stop()
    expect(fetch).toBe(original.fetch)
    expect((await fetch(`${strand.url}/helix/streams`)).status).toBe(200)
  })

  test('a wrong option is refused', async () => {
    const wrong = { intercept: 'yes' } as unknown as { intercept: boolean }
    await expect(startStrand(wrong)).rejects.toThrow('invalid intercept: must be true or false, not "yes"')
  })
})

/** What a program in Node calls, as an ES module or as CommonJS. Prints a line for each. */
const calls = (url: string) => `
const status = request => new Promise((resolve, reject) => {
  request.on('response', response => { response.resume(); response.on('end', () => resolve(response.statusCode)) })
  request.on('error', reject)
})
const firstMessage = (socket, on) => new Promise((resolve, reject) => {
  socket[on]('message', message => { resolve(JSON.parse(message.data ?? message).metadata.message_type); socket.close() })
  socket[on]('error', reject)
})
const main = async () => {
  const report = async (name, made) => console.log(name, await made().catch(error => (error.cause ?? error).code))
  const restore = intercept(${JSON.stringify(url)})
  await report('fetch', async () => { const answer = await fetch('${STREAMS}'); return answer.status + ' ' + answer.url })
  await report('https', () => status(https.get('${STREAMS}')))
  await report('by name', () => status(get(new URL('${STREAMS}'))))
  await report('http', () => status(http.get('http://api.twitch.tv/helix/streams')))
  await report('ws', () => firstMessage(new ws('wss://eventsub.wss.twitch.tv/ws'), 'on'))
  if (globalThis.WebSocket)
    await report('WebSocket', () => firstMessage(new WebSocket('wss://eventsub.wss.twitch.tv/ws'), 'addEventListener'))
  await report('other', () => fetch('https://api.twitch.invalid/'))
  restore()
  const lookup = (host, options, done) => done(Object.assign(new Error(), { code: 'real ' + host }))
  await report('after', () => status(https.get('${STREAMS}', { lookup, agent: false })))
  await report('after', () => status(http.get('http://id.twitch.tv/', { lookup, agent: false })))
  https.globalAgent.destroy()
}
main()
`

describe('in Node', () => {
  let folder = ''
  let strand: RunningStrand
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'strand-intercept-'))
    strand = await startStrand({ streams: 1 })
    for (const format of ['esm', 'cjs'] as const)
      await Bun.build({
        entrypoints: [join(ROOT, 'src/testing/intercept.ts')],
        outdir: folder,
        naming: `[name].${format === 'cjs' ? 'cjs' : 'mjs'}`,
        target: 'node',
        format,
      })
  })
  afterAll(async () => {
    await strand.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const ways = {
    mjs: `import { intercept } from './intercept.mjs'
import { createRequire } from 'node:module'
import http from 'node:http'
import https, { get } from 'node:https'
const ws = createRequire(${JSON.stringify(join(ROOT, 'package.json'))})('ws')`,
    cjs: `const { intercept } = require('./intercept.cjs')
const http = require('node:http')
const https = require('node:https')
const { get } = https
const ws = require(${JSON.stringify(join(ROOT, 'node_modules/ws'))})`,
  }
  for (const [format, head] of Object.entries(ways))
    test(`fetch, node:https, node:http, ws and WebSocket, ${format}`, async () => {
      const file = join(folder, `calls.${format}`)
      writeFileSync(file, head + calls(strand.url))
      const node = Bun.spawn(['node', file], { stdout: 'pipe', stderr: 'pipe' })
      const [output, errors] = await Promise.all([
        new Response(node.stdout).text(),
        new Response(node.stderr).text(),
      ])
      const hasWebSocket = output.includes('WebSocket')
      expect([errors, output.trim().split('\n')]).toEqual([
        '',
        [
          `fetch 200 ${STREAMS}`,
          'https 200',
          'by name 200',
          'http 200',
          'ws session_welcome',
          ...(hasWebSocket ? ['WebSocket session_welcome'] : []),
          expect.stringMatching(/^other (ENOTFOUND|EAI_AGAIN)$/),
          'after real api.twitch.tv',
          'after real id.twitch.tv',
        ],
      ])
    })
})
