/** Workers that fail at start, die, or stop responding: the others go on, and what failed comes back. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkerHeartbeat } from '../../src/cli/serve/worker-heartbeat.ts'
import { pauseAfter } from '../../src/cli/serve/workers.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { scrape } from '../support/server/scrape.ts'
import { hasPostgres, onNewDatabase, removeDatabases } from '../support/store/databases.ts'
import { freePort } from '../support/store/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-failing-'))
let folders = 0

afterAll(async () => {
  await endAllProcesses()
  await removeDatabases()
  rmSync(folder, { recursive: true, force: true })
})

interface Failing {
  readonly workers: string
  readonly by?: 'exit' | 'signal' | 'hang'
}

async function startWorkers(count: number, { workers, by = 'exit' }: Failing = { workers: '' }) {
  const port = await freePort()
  const data = join(folder, String(++folders))
  const failing = `${data}-failing`
  writeFileSync(failing, '')
  const words = ['serve', '--listen', `127.0.0.1:${port}`, '--data', data, '--workers', String(count)]
  const strand = new StrandProcess(words, {
    ...(workers !== '' && {
      command: [process.execPath, join(ROOT, 'test', 'support', 'cli', 'failing-worker.ts')],
    }),
    environment: {
      ...(await onNewDatabase()),
      STRAND_RATE_ANONYMOUS: '0',
      TEST_FAILING_WORKERS: workers,
      TEST_FAILING_WHILE: failing,
      TEST_FAILING_BY: by,
    },
  })
  return { strand, url: `http://127.0.0.1:${port}`, recover: () => rmSync(failing) }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Asks on a new connection: the system gives it to any of the workers. */
async function ask(url: string): Promise<number> {
  const init = { headers: { Connection: 'close' }, signal: AbortSignal.timeout(10_000) }
  const response = await fetch(`${url}/helix/streams`, init)
  await response.text()
  return response.status
}

async function expectAnswers(url: string): Promise<void> {
  for (let n = 0; n < 20; n++) expect(await ask(url)).toBe(200)
}

const seriesOf = async (url: string) => {
  const seen = await scrape(url).catch(() => undefined)
  return (name: string) => seen?.series.get(name)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(100)
}

const count = (text: string, words: string) => text.split(words).length - 1

const canRun = process.platform === 'linux' && hasPostgres

// Together, because all of them wait for pauses and deadlines most of the time.
describe.skipIf(!canRun)('a worker', () => {
  test.concurrent('that fails at every start is tried again with growing pauses while the others serve', async () => {
    const { strand, url, recover } = await startWorkers(3, { workers: '1' })
    await strand.serving()
    await strand.until(({ stderr }) => stderr.includes('not all workers are serving'))
    await expectAnswers(url)
    await until(async () => {
      const metric = await seriesOf(url)
      return metric('strand_workers') === 3 && metric('strand_workers_serving') === 2
    })
    // As often as used to end all of them.
    await strand.until(({ stderr }) => count(stderr, 'worker did not start; retrying') >= 5)
    await expectAnswers(url)
    const pauses = strand.stderr.matchAll(/"retry_seconds":(\d+)/g)
    expect([...pauses].map(([, seconds]) => Number(seconds)).slice(0, 5)).toEqual([1, 2, 4, 8, 16])
    recover()
    await until(async () => (await seriesOf(url))('strand_workers_serving') === 3)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 120_000)

  test.concurrent('that dies again and again does not end the others', async () => {
    const { strand, url } = await startWorkers(2)
    await strand.serving()
    const [victim, other = 0] = childrenOf(strand.pid)
    let next = victim
    for (let deaths = 1; deaths <= 3; deaths++) {
      process.kill(next ?? 0, 'SIGKILL')
      await strand.until(({ stderr }) => count(stderr, 'worker exited; restarting it') === deaths)
      await expectAnswers(url)
      next = await strand.until(() => childrenOf(strand.pid).find(pid => pid !== other))
      await until(async () => (await seriesOf(url))('strand_workers_serving') === 2)
    }
    expect(childrenOf(strand.pid)).toContain(other)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 120_000)

  test.concurrent('that is stopped is noticed, killed and replaced', async () => {
    const { strand, url } = await startWorkers(2)
    await strand.serving()
    const [stopped = 0, other] = childrenOf(strand.pid)
    process.kill(stopped, 'SIGSTOP')
    await strand.until(({ stderr }) => stderr.includes('worker did not respond and was killed'))
    await strand.until(() => !childrenOf(strand.pid).includes(stopped))
    await until(async () => (await seriesOf(url))('strand_workers_serving') === 2)
    await expectAnswers(url)
    expect(childrenOf(strand.pid)).toContain(other as number)
    expect((await seriesOf(url))('strand_worker_stalls_total')).toBe(1)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 120_000)

  test.concurrent('that hangs while it starts is killed and started again', async () => {
    const { strand, url, recover } = await startWorkers(2, { workers: '1', by: 'hang' })
    const isStopped = (pid: number) => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    await until(async () => childrenOf(strand.pid).some(isStopped))
    recover()
    await strand.until(({ stderr }) => stderr.includes('worker did not respond and was killed'))
    await until(async () => (await seriesOf(url))('strand_workers_serving') === 2)
    await expectAnswers(url)
    expect(await strand.end('SIGTERM')).toBe(0)
  }, 180_000)

  test.concurrent('that is stopped does not hold up the end of all', async () => {
    const { strand } = await startWorkers(2)
    await strand.serving()
    const [stopped = 0] = childrenOf(strand.pid)
    process.kill(stopped, 'SIGSTOP')
    expect(await strand.end('SIGTERM')).toBe(0)
    expect(strand.stderr).toContain('worker did not stop in time and was killed')
  }, 120_000)
})

describe.skipIf(!canRun)('the first worker', () => {
  test.concurrent('that cannot start ends the command with the reason, as none has ever served', async () => {
    const { strand } = await startWorkers(3, { workers: '0' })
    expect(await strand.exit()).toBe(1)
    expect(strand.stderr).toContain('strand: worker 0 did not start\n')
  })

  test.concurrent('that is killed while it starts is started again', async () => {
    const { strand, url, recover } = await startWorkers(2, { workers: '0', by: 'signal' })
    await strand.until(({ stderr }) => stderr.includes('the first worker was killed before it served'))
    recover()
    await strand.serving()
    await expectAnswers(url)
    expect(await strand.end('SIGTERM')).toBe(0)
  })
})

describe('the heartbeat of a worker', () => {
  const missed = (heartbeat: WorkerHeartbeat, from: number, ticks: number) =>
    Array.from({ length: ticks }, (_, n) => heartbeat.tick(from + n * 1000)).indexOf(true)

  test('is given up after fifteen ticks without an answer', () => {
    expect(missed(new WorkerHeartbeat(), 0, 40)).toBe(15)
  })

  test('is given up after sixty ticks if it never served', () => {
    const heartbeat = new WorkerHeartbeat()
    const ticks = Array.from({ length: 80 }, (_, n) => heartbeat.tick(n * 1000, { isServing: false }))
    expect(ticks.indexOf(true)).toBe(60)
  })

  test('begins again with every answer', () => {
    const heartbeat = new WorkerHeartbeat()
    expect(missed(heartbeat, 0, 15)).toBe(-1)
    heartbeat.returned()
    expect(missed(heartbeat, 15_000, 15)).toBe(-1)
  })

  test('is not counted over a gap in which the supervisor did not run, such as a suspended machine', () => {
    const heartbeat = new WorkerHeartbeat()
    expect(missed(heartbeat, 0, 15)).toBe(-1)
    expect(missed(heartbeat, 3_600_000, 15)).toBe(-1)
    expect(heartbeat.tick(3_615_000)).toBe(false)
    expect(heartbeat.tick(3_616_000)).toBe(true)
  })
})

test('pauses double up to half a minute', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 100].map(pauseAfter)).toEqual([
    1000, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ])
})
