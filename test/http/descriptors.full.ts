/** A server that runs out of file descriptors: it sheds connections instead of spinning, reports it once, and recovers. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reservedPlaces } from '../../src/http/limits/shedding.ts'
import { endAllProcesses, STRAND, StrandProcess } from '../support/cli/strand-process.ts'
import { scrape } from '../support/server/scrape.ts'
import { freePort } from '../support/store/postgres.ts'

const LIMIT = 160
const MESSAGE = 'file descriptors ran short'
const folder = mkdtempSync(join(tmpdir(), 'strand-descriptors-'))
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await endAllProcesses()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A connection that sends this and then nothing. */
async function hold(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  sockets.push(socket)
  await new Promise<void>(resolve => {
    socket.once('connect', () => resolve())
    socket.once('close', () => resolve())
  })
  socket.write(text)
  return socket
}

/** Processor time in ticks of a hundredth of a second, of all threads. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

/** How many calls of accept failed meanwhile is unknown; a process that spins takes all the time that it gets. */
async function loadOf(pid: number, milliseconds: number): Promise<number> {
  const before = ticksOf(pid)
  await Bun.sleep(milliseconds)
  return (ticksOf(pid) - before) / (milliseconds / 10)
}

async function ask(url: string): Promise<number | undefined> {
  const init = { headers: { Connection: 'close' }, signal: AbortSignal.timeout(5000) }
  const response = await fetch(url, init).catch(() => undefined)
  return response?.status
}

describe.skipIf(process.platform !== 'linux')('out of file descriptors', () => {
  test('connections are shed, it is logged once, the operator is served throughout, and all is well again', async () => {
    const [port, operatorPort] = [await freePort(), await freePort()]
    const words = ['serve', '--data', join(folder, 'data'), '--listen', `127.0.0.1:${port}`]
    const program = [...STRAND, ...words]
    const line = `ulimit -n ${LIMIT} && exec ${program.join(' ')} --operator-listen 127.0.0.1:${operatorPort}`
    const strand = new StrandProcess([line], {
      command: ['bash', '-c'],
      environment: { STRAND_RATE_ANONYMOUS: '0' },
    })
    await strand.serving()
    const url = `http://127.0.0.1:${port}/helix/streams`
    const operator = `http://127.0.0.1:${operatorPort}`
    const series = async (name: string) => (await scrape(operator)).series.get(name) ?? 0
    expect(await series('process_max_fds')).toBe(LIMIT)

    // Again and again more than there can be: half of them begin a request that never ends, half have had an answer.
    const shortages = () => series('strand_descriptor_shortages_total')
    for (let wave = 1; wave <= 5; wave++) {
      while ((await shortages()) < wave) {
        for (let n = 0; n < 20; n++) {
          const isWhole = n % 2 === 0
          await hold(port, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${isWhole ? '\r\n' : 'X-Never: '}`)
        }
      }
      while ((await ask(url)) !== 200) await Bun.sleep(20)
    }
    expect(strand.stderr.split(MESSAGE).length - 1).toBe(1)
    expect(strand.stderr).toContain('LimitNOFILE')

    for (const socket of sockets.splice(0)) socket.destroy()
    while ((await ask(url)) !== 200) await Bun.sleep(100)
    while ((await series('process_open_fds')) > LIMIT / 2) await Bun.sleep(100)
    for (let n = 0; n < 20; n++) expect(await ask(url)).toBe(200)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 120_000)

  test('an answer under way is finished, and a full table does not take a core', async () => {
    const port = await freePort()
    const words = ['serve', '--data', join(folder, 'second'), '--listen', `127.0.0.1:${port}`]
    const program = [...STRAND, ...words]
    const strand = new StrandProcess([`ulimit -n ${LIMIT} && exec ${program.join(' ')}`], {
      command: ['bash', '-c'],
    })
    await strand.serving()
    const begun = await hold(
      port,
      'POST /oauth2/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 12\r\n\r\ngrant',
    )
    let answer = ''
    begun.on('data', piece => {
      answer += piece
    })
    while (!strand.stderr.includes(MESSAGE)) {
      await hold(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Never: ')
    }
    begun.write('_type=x')
    await strand.until(() => answer.startsWith('HTTP/1.1 400'))
    // Held open by those who were cut and come again.
    const again = setInterval(() => {
      for (let n = 0; n < 20; n++) void hold(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Never: ')
    }, 100)
    const load = await loadOf(strand.pid, 3000)
    clearInterval(again)
    expect(load).toBeLessThan(0.5)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 120_000)
})

test('a tenth is reserved, within limits', () => {
  expect([64, 160, 1024, 20_000, 65_536, 2 ** 30].map(reservedPlaces)).toEqual([
    16, 16, 102, 1024, 1024, 1024,
  ])
})
