/** STRAND_DRAIN_SECONDS: how a node leaves, and comes back, while a proxy sends requests to it and to others. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { hasPostgres, onNewDatabase, removeDatabases } from '../support/store/databases.ts'
import { freePort } from '../support/store/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-drain-'))
let folders = 0

afterEach(endAllProcesses)
afterAll(async () => {
  await removeDatabases()
  rmSync(folder, { recursive: true, force: true })
})

async function startNode(drainSeconds: number, environment: Environment = {}, words: readonly string[] = []) {
  const port = await freePort()
  const strand = new StrandProcess(
    ['serve', '--listen', `127.0.0.1:${port}`, '--data', join(folder, String(++folders)), ...words],
    {
      environment: {
        STRAND_DRAIN_SECONDS: String(drainSeconds),
        STRAND_RATE_ANONYMOUS: '0',
        ...environment,
      },
    },
  )
  return { strand, port, url: `http://127.0.0.1:${port}` }
}

/** On a separate connection. */
const ask = (url: string) => fetch(url, { headers: { Connection: 'close' } })

/** A connection that stays open, as a proxy has it. */
async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let isClosed = false
  socket.on('data', (chunk: Uint8Array) => {
    received += new TextDecoder().decode(chunk)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
  })
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  return {
    isClosed: () => isClosed,
    /** Gives the head of the answer. */
    get: async (path: string): Promise<string> => {
      received = ''
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      while (!received.includes('\r\n\r\n') && !isClosed) await Bun.sleep(5)
      return received.split('\r\n\r\n')[0]?.toLowerCase() ?? ''
    },
  }
}

describe('a node that drains', () => {
  test('is not ready, answers on, and hangs up after each answer; then it ends with exit code 0', async () => {
    const { strand, port, url } = await startNode(2)
    await strand.serving()
    const used = await openConnection(port)
    expect(await used.get('/helix/streams')).not.toContain('connection: close')
    expect((await ask(`${url}/readyz`)).status).toBe(200)

    const asked = performance.now()
    const ended = strand.end('SIGTERM')
    await strand.until(({ stderr }) => stderr.includes('stopping'))
    expect((await ask(`${url}/readyz`)).status).toBe(503)
    expect((await ask(`${url}/healthz`)).status).toBe(200)
    const last = await used.get('/helix/streams')
    expect(last).toStartWith('http/1.1 200')
    expect(last).toContain('connection: close')
    while (performance.now() - asked < 1500) {
      expect((await ask(`${url}/helix/streams`)).status).toBe(200)
      await Bun.sleep(20)
    }
    expect(await ended).toBe(0)
    expect(performance.now() - asked).toBeGreaterThan(2000)
    expect(used.isClosed()).toBe(true)
  })

  test.skipIf(!hasPostgres)('does so with several workers too', async () => {
    const { strand, url } = await startNode(2, await onNewDatabase(), ['--workers', '2'])
    await strand.serving()
    const asked = performance.now()
    const ended = strand.end('SIGTERM')
    while ((await ask(`${url}/readyz`)).status !== 503) await Bun.sleep(5)
    while (performance.now() - asked < 700) expect((await ask(`${url}/helix/streams`)).status).toBe(200)
    expect(await ended).toBe(0)
  })

  test('ends at once at a second signal, exit code 143', async () => {
    const { strand } = await startNode(60)
    await strand.serving()
    void strand.end('SIGTERM')
    await strand.until(({ stderr }) => stderr.includes('stopping'))
    expect(await strand.end('SIGTERM')).toBe(143)
  })

  test('-1 seconds is a wrong setting', async () => {
    const { strand } = await startNode(-1)
    expect(await strand.exit()).toBe(1)
    expect(strand.stderr).toContain('invalid STRAND_DRAIN_SECONDS: must be a whole number')
  })
})

test('a node behind a proxy is refused until it can answer; one that stands alone answers 503', async () => {
  // A PostgreSQL that takes a connection and never answers.
  let connections = 0
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        connections += 1
      },
      data: () => undefined,
    },
  })
  try {
    const environment = { DATABASE_URL: `postgres://unknown@127.0.0.1:${silent.port}/nothing` }
    for (const [drainSeconds, expected] of [
      [1, 'refused'],
      [0, 503],
    ] as const) {
      connections = 0
      const { strand, url } = await startNode(drainSeconds, environment)
      await strand.until(() => connections > 0)
      const answer = await ask(`${url}/helix/streams`).then(
        ({ status }) => status,
        () => 'refused',
      )
      expect([drainSeconds, answer]).toEqual([drainSeconds, expected])
      await strand.end('SIGKILL')
    }
  } finally {
    silent.stop(true)
  }
})
