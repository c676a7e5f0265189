/** `strand serve --workers N`: several processes that look like one server. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type Environment, endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { scrape } from '../support/server/scrape.ts'
import { hasPostgres, onNewDatabase, removeDatabases } from '../support/store/databases.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'
const folder = mkdtempSync(join(tmpdir(), 'strand-workers-'))
let folders = 0

afterEach(endAllProcesses)
afterAll(async () => {
  await removeDatabases()
  rmSync(folder, { recursive: true, force: true })
})

const freshFolder = () => join(folder, String(++folders))

async function startWorkers(count: number, changes: Environment = {}) {
  const data = freshFolder()
  const port = await freePort()
  const words = ['serve', '--listen', `127.0.0.1:${port}`, '--data', data, '--workers', String(count)]
  const environment: Environment = {
    ...(await onNewDatabase()),
    STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
    STRAND_LOG: 'debug',
    STRAND_RATE_ANONYMOUS: '0',
    ...changes,
  }
  const strand = new StrandProcess(words, { environment })
  return { strand, url: `http://127.0.0.1:${port}`, database: environment.DATABASE_URL }
}

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Asks on a new connection: the system gives it to any of the workers. */
const ask = (url: string, init: RequestInit = {}) =>
  fetch(url, {
    ...init,
    headers: { ...init.headers, Connection: 'close', Authorization: `Bearer ${OPERATOR_TOKEN}` },
  })

const canRun = process.platform === 'linux' && hasPostgres
if (!canRun)
  process.stderr.write(
    '!!! SKIPPED: the tests of --workers. They need PostgreSQL, and Linux, which spreads connections over processes.\n',
  )

describe.skipIf(!canRun)('workers', () => {
  test('every worker shows the metrics of all, also of one that was restarted', async () => {
    const { strand, url } = await startWorkers(3)
    await strand.serving()
    const headers = { Connection: 'close' }
    for (let n = 0; n < 40; n++) await (await fetch(`${url}/helix/streams`, { headers })).text()
    const scraped = async () =>
      (await scrape(url).catch(() => undefined))?.series ?? new Map<string, number>()
    let series = await scraped()
    // A worker that is late is left out.
    while (series.get('strand_workers_answering') !== 3) {
      await Bun.sleep(50)
      series = await scraped()
    }
    const counts = ['0', '1', '2'].map(worker =>
      series.get(`strand_http_requests_total{worker="${worker}",operation="GetStreams",status="200"}`),
    )
    expect(counts.reduce((sum = 0, each = 0) => sum + each, 0)).toBe(40)
    expect(counts.filter(Boolean).length).toBeGreaterThan(1)
    expect(series.get('strand_workers')).toBe(3)

    process.kill(childrenOf(strand.pid)[0] ?? 0, 'SIGKILL')
    let seen = await scraped()
    while (seen.get('strand_worker_restarts_total') !== 1 || seen.get('strand_workers_answering') !== 3) {
      await Bun.sleep(50)
      seen = await scraped()
    }
    expect(seen.get('strand_workers')).toBe(3)
  })

  test('all of them answer, and each knows at once or within a second what another has written', async () => {
    const { strand, url } = await startWorkers(3)
    await strand.serving()
    expect(childrenOf(strand.pid)).toHaveLength(3)
    const put = await ask(`${url}/control/users/7`, { method: 'PUT', body: '{"login": "seven"}' })
    expect(put.status).toBe(200)
    const start = await ask(`${url}/control/channels/7/stream`, { method: 'PUT', body: '{}' })
    expect(start.status).toBe(200)
    const started = performance.now()
    const anonymous = (path: string) => fetch(`${url}${path}`, { headers: { Connection: 'close' } })
    for (let inARow = 0; inARow < 40; ) {
      const asked = performance.now() - started
      const { data } = (await (await anonymous('/helix/streams?user_login=seven')).json()) as {
        data: unknown[]
      }
      inARow = data.length === 1 ? inARow + 1 : 0
      if (inARow === 0) expect(asked).toBeLessThan(5000)
    }
    const answering = strand.stderr
      .split('\n')
      .filter(line => line.includes('GetStreams'))
      .map(line => JSON.parse(line).worker)
    expect(new Set(answering)).toEqual(new Set(['0', '1', '2']))
    // The store itself is read by all: what was answered is there for all of them, at once.
    for (let n = 0; n < 20; n++) {
      await ask(`${url}/control/users/7`, { method: 'PUT', body: `{"display_name": "Seven${n}"}` })
      const { data } = (await (await ask(`${url}/control/users/7`)).json()) as {
        data: { display_name: string }[]
      }
      expect(data[0]?.display_name).toBe(`Seven${n}`)
    }
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('writes through all of them at once are all kept', async () => {
    const { strand, url, database } = await startWorkers(2)
    await strand.serving()
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const answer = await ask(`${url}/control/users/${1000 + n}`, {
          method: 'PUT',
          body: `{"login": "user${n}"}`,
        })
        return answer.status
      }),
    )
    expect(statuses.filter(status => status !== 200)).toEqual([])
    await strand.end('SIGTERM')
    const store = new SQL(database ?? '', { max: 1 })
    expect([...(await store.unsafe('select count(*)::int as users from users'))]).toEqual([{ users: 200 }])
    await store.close()
  })

  test('one that dies is replaced while the others serve on', async () => {
    const { strand, url } = await startWorkers(2)
    await strand.serving()
    const [victim, other] = childrenOf(strand.pid) as [number, number]
    process.kill(victim, 'SIGKILL')
    await strand.until(() => childrenOf(strand.pid).some(pid => pid !== victim && pid !== other))
    await strand.until(({ stderr }) => stderr.match(/worker is serving/g)?.length === 3)
    for (let n = 0; n < 20; n++) expect((await ask(`${url}/control/users`)).status).toBe(200)
    expect(isAlive(other)).toBe(true)
    expect(strand.stderr).toContain('worker exited; restarting it')
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('SIGTERM and SIGINT end all of them in good order, exit code 0', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { strand } = await startWorkers(2)
      await strand.serving()
      const workers = childrenOf(strand.pid)
      expect(await strand.end(signal)).toBe(0)
      expect(workers.filter(isAlive)).toEqual([])
    }
  })

  test('they end by themselves when the process that started them is killed', async () => {
    const { strand } = await startWorkers(2)
    await strand.serving()
    const workers = childrenOf(strand.pid)
    await strand.end('SIGKILL')
    const deadline = performance.now() + 10_000
    while (workers.some(isAlive) && performance.now() < deadline) await Bun.sleep(10)
    expect(workers.filter(isAlive)).toEqual([])
  })

  test('a port in use is reported in one sentence, exit code 1', async () => {
    const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    try {
      const words = [
        'serve',
        '--workers',
        '2',
        '--data',
        freshFolder(),
        '--listen',
        `127.0.0.1:${taken.port}`,
      ]
      const strand = new StrandProcess(words, { environment: await onNewDatabase() })
      expect(await strand.exit()).toBe(1)
      expect(strand.stderr).toMatch(/^strand: port \d+ is in use: [^\n]+\n$/)
    } finally {
      await taken.stop(true)
    }
  })

  test('a store that cannot be opened is reported by the first of them, and nothing is left running', async () => {
    const { strand } = await startWorkers(2, {
      DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/none`,
    })
    expect(await strand.exit()).toBe(1)
    expect(strand.stderr).toMatch(/no server accepts writes|cannot be (opened|reached)|ECONNREFUSED/)
    expect(strand.stderr).toContain('worker 0 did not start')
  })

  test('0 of them is a wrong setting', async () => {
    const strand = new StrandProcess(['serve', '--workers', '0', '--data', freshFolder()])
    expect(await strand.exit()).toBe(2)
    expect(strand.stderr).toContain('invalid --workers: must be a whole number between 1 and 256')
  })
})
