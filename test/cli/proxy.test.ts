/** `strand demo --proxy`, and programs in other processes that know nothing of it but their environment. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, connect as open } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect as secure } from 'node:tls'
import { KNOWN_HOSTS } from '../../src/demo/known-hosts.ts'
import type { World } from '../../src/testing/start-strand.ts'
import { endAllProcesses, environmentOf, StrandProcess } from '../support/cli/strand-process.ts'
import { EventClient } from '../support/server/event-client.ts'

let folder = ''
let strand: StrandProcess
let proxy: NonNullable<World['proxy']>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-proxy-'))
  strand = start(['--proxy', '0'])
  const world = JSON.parse(await strand.until(({ stdout }) => stdout.includes('\n') && stdout)) as World
  if (world.proxy === undefined) throw new Error('the world has no proxy')
  proxy = world.proxy
})
afterAll(async () => {
  await endAllProcesses()
  rmSync(folder, { recursive: true, force: true })
})

const start = (words: readonly string[]) =>
  new StrandProcess(['demo', '--port', '0', '--no-rtmp', '--json', '--streams', '3', ...words], {
    cwd: folder,
  })

/** What the proxy answers to the head of a request. */
function ask(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = open(Number(new URL(proxy.url).port), '127.0.0.1', () => socket.write(head))
    let received = ''
    socket.on('data', data => {
      received += data
      if (received.startsWith('HTTP/1.1 200')) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

test('an unmodified program gets answers of the demo, by its environment alone', async () => {
  const script = `for (const url of ['https://api.twitch.tv/helix/streams?first=1', 'https://id.twitch.tv/oauth2/validate'])
    console.log((await fetch(url)).status)
  console.log(await fetch('https://strand.invalid/').then(answer => answer.status, error => 'refused'))`
  const program = Bun.spawn([process.execPath, '-e', script], {
    cwd: folder,
    env: environmentOf({ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: proxy.certificate_file }),
    stdout: 'pipe',
  })
  const lines = (await new Response(program.stdout).text()).trim().split('\n')
  expect(lines.slice(0, 2)).toEqual(['200', '401'])
  expect(lines[2]).toMatch(/^(403|refused)$/)
})

test('events by WebSocket', async () => {
  const ca = readFileSync(proxy.certificate_file, 'utf8')
  const servername = 'eventsub.wss.twitch.tv'
  const socket = open(Number(new URL(proxy.url).port), '127.0.0.1')
  socket.write(`CONNECT ${servername}:443 HTTP/1.1\r\nHost: ${servername}:443\r\n\r\n`)
  await new Promise(resolve => socket.once('data', resolve))
  // The client of the tests has no TLS: it connects to a listener that adds it.
  const tunnel = secure({ socket, servername, ca })
  const listener = createServer(plain => plain.pipe(tunnel).pipe(plain))
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  const client = await EventClient.connect(`ws://127.0.0.1:${port}/ws`)
  expect(await client.sessionId()).toMatch(/^[A-Za-z0-9]{27}$/)
  client.close()
  tunnel.destroy()
  listener.close()
})

test('the certificate is valid for the three hosts, is no authority, and its key is in no file', () => {
  const certificate = new X509Certificate(readFileSync(proxy.certificate_file))
  for (const host of KNOWN_HOSTS) expect(certificate.checkHost(host)).toBe(host)
  for (const host of ['twitch.tv', 'www.twitch.tv', 'localhost', 'x.api.twitch.tv'])
    expect(certificate.checkHost(host)).toBeUndefined()
  expect(certificate.ca).toBe(false)
  const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000
  expect(days).toBeWithin(1, 91)
  const data = dirname(proxy.certificate_file)
  for (const file of readdirSync(data))
    expect([file, readFileSync(join(data, file), 'latin1').includes('PRIVATE KEY')]).toEqual([file, false])
})

test('200 for a tunnel to one of the hosts, in either case', async () => {
  for (const host of [...KNOWN_HOSTS, 'API.Twitch.TV'])
    expect(await ask(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`)).toStartWith('HTTP/1.1 200 ')
})

test('403 for everything else: it is no open proxy', async () => {
  const { port } = new URL(proxy.url)
  for (const head of [
    'CONNECT example.com:443 HTTP/1.1\r\n\r\n',
    'CONNECT api.twitch.tv:80 HTTP/1.1\r\n\r\n',
    'CONNECT api.twitch.tv:4430 HTTP/1.1\r\n\r\n',
    'CONNECT api.twitch.tv.example.com:443 HTTP/1.1\r\n\r\n',
    'CONNECT xapi.twitch.tv:443 HTTP/1.1\r\n\r\n',
    `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`,
    'CONNECT [::1]:443 HTTP/1.1\r\n\r\n',
    'CONNECT api.twitch.tv HTTP/1.1\r\n\r\n',
    'CONNECT api.twitch.tv:443\r\n\r\n',
    'GET http://api.twitch.tv/helix/streams HTTP/1.1\r\nHost: api.twitch.tv\r\n\r\n',
    'GET https://api.twitch.tv/helix/streams HTTP/1.1\r\nHost: api.twitch.tv\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'x'.repeat(9000),
    '\r\n\r\n',
  ])
    expect([head.slice(0, 60), await ask(head)]).toEqual([
      head.slice(0, 60),
      expect.stringMatching(
        /^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*only opens tunnels \(CONNECT\) to port 443 of api/,
      ),
    ])
})

const outside = Object.values(networkInterfaces())
  .flat()
  .find(each => each?.internal === false && each.family === 'IPv4')?.address

test.skipIf(outside === undefined)('it listens on loopback only', async () => {
  const refused = new Promise<string>(resolve => {
    const socket = open(Number(new URL(proxy.url).port), outside as string, () => resolve('connected'))
    socket.on('error', error => resolve((error as { code?: string }).code ?? ''))
  })
  expect(await refused).toBe('ECONNREFUSED')
})

test('a port in use ends the start with a clear message', async () => {
  const second = start(['--proxy', new URL(proxy.url).port])
  expect(await second.exit()).not.toBe(0)
  expect(second.stderr).toContain(`the proxy cannot listen on port ${new URL(proxy.url).port}: it is in use`)
})

test('without --json the environment is a line to copy; without --proxy there is none', async () => {
  const words = ['demo', '--port', '0', '--no-rtmp', '--streams', '1']
  const shown = new StrandProcess([...words, '--proxy', '0'], { cwd: folder })
  const without = new StrandProcess(words, { cwd: folder })
  await shown.until(({ stdout }) => stdout.includes('/docs'))
  expect(shown.stdout).toMatch(
    /export HTTPS_PROXY=http:\/\/127\.0\.0\.1:[0-9]+ SSL_CERT_FILE=\S+\/proxy\.pem NODE_EXTRA_CA_CERTS=\S+\/proxy\.pem\n/,
  )
  await without.until(({ stdout }) => stdout.includes('/docs'))
  expect(without.stdout).not.toContain('PROXY')
})
