/**
 * A body without end, in chunks and with a huge announced length, sent to everything that is served: every operation and
 * page of the census and what stands beside them, with every method. Whatever reads it holds little of it, every request
 * is answered, and no connection stays open for as long as a client sends.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '../../src/contract/index.ts'
import { familyOf, type Operation } from '../../src/contract/operation.ts'
import type { World } from '../../src/demo/described-world.ts'
import { PAGES } from '../../src/site/pages.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import {
  type EndlessRequest,
  FLOOD,
  FRAMINGS,
  type Outcome,
  type Pace,
  sendEndless,
} from '../support/server/endless.ts'
import { freePort } from '../support/store/postgres.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const OTHER_PATHS = [
  '/',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/docs',
  '/metrics',
  '/nothing',
  '/helix/nothing',
  '/mock/nothing',
  '/oauth2/nothing',
  '/control/nothing',
]
/** At once: a few, because an operator's body may take 4 MiB of memory. */
const CONCURRENCY = 3
/** The server's idle timeout is 12 s, and the runtime looks at it every few seconds. */
const CLOSED_WITHIN_MILLISECONDS = 40_000
/** A server has its size when sending the same again changes it by less than this. */
const STEADY_MEGABYTES = 5
const MOST_WARM_UPS = 8
const FORM = 'Content-Type: application/x-www-form-urlencoded'

const folder = mkdtempSync(join(tmpdir(), 'strand-endless-'))
let strand: StrandProcess
let world: World
let port = 0

beforeAll(async () => {
  port = await freePort()
  strand = new StrandProcess(['demo', '--port', String(port), '--json', '--streams', '20'], {
    cwd: folder,
    environment: { STRAND_IMPORT_MIB: '1', STRAND_LOG: 'warn' },
  })
  world = JSON.parse(
    await strand.until(({ stdout }) => stdout.endsWith('\n') && (stdout.split('\n')[0] as string)),
  )
})
afterAll(async () => {
  await endAllProcesses()
  rmSync(folder, { recursive: true, force: true })
})

const pathOf = ({ path, example }: Operation) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(example.params?.[name] ?? '1'))

/** With the query of the example: without what it requires, a body is not read. A call that waits would outlast it. */
function targetOf(operation: Operation): string {
  const query = Object.entries(operation.example.query ?? {})
    .filter(([name]) => name !== 'wait_milliseconds')
    .map(([name, value]) => [name, `${value}`])
  return query.length === 0 ? pathOf(operation) : `${pathOf(operation)}?${new URLSearchParams(query)}`
}

const targets = [...new Set([...operations.map(targetOf), ...Object.keys(PAGES), ...OTHER_PATHS])]

/** The token with which a request is let in. */
function tokenOf(target: string): string {
  if (target.startsWith('/control')) return world.operator_token
  const [path] = target.split('?')
  return path === '/helix/entitlements/drops' ? world.client.app_token : world.broadcaster.token
}

const requestsFor = (target: string, method: string): EndlessRequest[] =>
  FRAMINGS.map(framing => ({
    port,
    method,
    target,
    framing,
    headers: [FORM, `Authorization: Bearer ${tokenOf(target)}`],
  }))

const nameOf = ({ method, target, framing }: EndlessRequest) => `${method} ${target} ${framing}`

async function sendAll(
  requests: readonly EndlessRequest[],
  pace: Pace,
  atOnce: number,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const waiting = [...requests]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      outcomes.set(nameOf(next), await sendEndless(next, pace))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcomes
}

function residentMegabytes(): number {
  const [, kilobytes] =
    /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${strand.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** The most memory that the server had while this was done. */
async function peakDuring(work: () => Promise<unknown>): Promise<number> {
  let peak = residentMegabytes()
  const look = () => {
    peak = Math.max(peak, residentMegabytes())
  }
  const timer = setInterval(look, 20)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  look()
  return peak
}

describe.skipIf(process.platform !== 'linux')('a body without end', () => {
  /** Sends as much of each as any server reads, until code, heap and buffers have their size. */
  async function warmUp(requests: readonly EndlessRequest[]): Promise<number> {
    const small: Pace = {
      ...FLOOD,
      mostBytes: 256 * 1024,
      bytesAfterAnswer: 64 * 1024,
      mostMilliseconds: 1000,
    }
    let peak = 0
    for (let round = 1; round <= MOST_WARM_UPS; round += 1) {
      const before = peak
      peak = await peakDuring(() => sendAll(requests, small, CONCURRENCY))
      if (Math.abs(peak - before) < STEADY_MEGABYTES) break
    }
    return peak
  }

  /** Sends one to each of these with every method; all must be answered, within this growth of memory. */
  async function expectBounded(some: readonly string[], growthMegabytes: number): Promise<void> {
    const requests = some.flatMap(target => METHODS.flatMap(method => requestsFor(target, method)))
    const before = await warmUp(requests)
    let outcomes = new Map<string, Outcome>()
    const peak = await peakDuring(async () => {
      outcomes = await sendAll(requests, FLOOD, CONCURRENCY)
    })
    const unanswered = [...outcomes].filter(([, { status, closedByServer }]) =>
      status === undefined ? !closedByServer : status >= 500,
    )
    expect(outcomes.size).toBe(requests.length)
    expect(unanswered).toEqual([])
    expect(peak - before).toBeLessThan(growthMegabytes)
    expect(strand.stderr).not.toContain('"level":"error"')
  }

  const isControl = (target: string) => target.startsWith('/control/')

  test('4xx or less on every public path with every method, in 20 MB of memory', async () => {
    await expectBounded(
      targets.filter(target => !isControl(target)),
      20,
    )
  }, 300_000)

  test("4xx or less on every path of the operator's, where a body may have 4 MiB", async () => {
    await expectBounded(targets.filter(isControl), 20 + CONCURRENCY * 4)
  }, 300_000)

  test('413 wherever a body is read', async () => {
    const readers = [
      ...operations
        .filter(({ body, bodyLines }) => body !== undefined || bodyLines !== undefined)
        .map(operation => [operation.method, targetOf(operation)] as const),
      ...Object.entries(PAGES)
        .filter(([path, { POST }]) => POST !== undefined && path !== '/signup')
        .map(([path]) => ['POST', path] as const),
    ]
    expect(readers.length).toBeGreaterThan(20)
    const requests = readers.flatMap(([method, path]) => requestsFor(path, method))
    for (const [name, { status, closedByServer }] of await sendAll(requests, FLOOD, CONCURRENCY)) {
      // Lines that have no end are refused as such, before there are too many of them.
      const expected = name === 'POST /control/import chunked' ? 400 : 413
      // The runtime itself refuses a length beyond its limit, and its answer may be lost with the connection.
      if (!(name.endsWith('length') && status === undefined && closedByServer))
        expect([name, status]).toEqual([name, expected])
    }
  }, 120_000)

  test('closed soon after the answer, however long the rest of the body drips', async () => {
    const drip: Pace = {
      blockBytes: 100,
      pauseMilliseconds: 100,
      mostBytes: Number.POSITIVE_INFINITY,
      mostMilliseconds: CLOSED_WITHIN_MILLISECONDS,
    }
    const families = new Map(operations.map(each => [`${familyOf(each)} ${each.body === undefined}`, each]))
    const requests = [
      ...[...families.values()].flatMap(each => requestsFor(pathOf(each), each.method)),
      ...Object.entries(PAGES).flatMap(([path, methods]) =>
        Object.keys(methods).flatMap(method => requestsFor(path, method)),
      ),
      ...OTHER_PATHS.flatMap(path => ['GET', 'POST'].flatMap(method => requestsFor(path, method))),
    ]
    for (const [name, outcome] of await sendAll(requests, drip, requests.length)) {
      expect([name, outcome.closedByServer]).toEqual([name, true])
      expect([name, (outcome.status ?? 413) < 500]).toEqual([name, true])
    }
  })
})
