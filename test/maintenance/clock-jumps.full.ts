/**
 * Clocks that jump under a real server, and under its PostgreSQL: nothing that is kept is deleted because of it, no user is
 * locked out for longer than a limit's window, and sweeps go on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NoPreload } from '../../tools/preload.ts'
import { ShiftedClock } from '../support/cli/shifted-clock.ts'
import { StrandProcess } from '../support/cli/strand-process.ts'
import { scrape } from '../support/server/scrape.ts'
import { engines } from '../support/server.ts'
import { freePort, type PostgresServer, startPostgres, TEMPLATE_DATABASE } from '../support/store/postgres.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'
/** One sweep a second; on a machine that is busy with other tests, later. */
const MAX_WAIT_MILLISECONDS = 60_000

const clockOrWhy = await ShiftedClock.create().catch((error: unknown) => {
  if (!(error instanceof NoPreload)) throw error
  process.stderr.write(`!!! SKIPPED: the tests of clocks that jump. ${error.message}\n`)
  return undefined
})
afterAll(() => clockOrWhy?.remove())

/** A server whose clock, and whose store's clock, is the one that jumps. */
class Server {
  readonly #environment: Readonly<Record<string, string>>
  readonly #clock: ShiftedClock
  #process: StrandProcess | undefined
  #url = ''

  constructor(clock: ShiftedClock, folder: string, databaseUrl: string | undefined) {
    this.#clock = clock
    this.#environment = {
      STRAND_DATA: folder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
      STRAND_SWEEP_SECONDS: '1',
      STRAND_KEEP_VIDEOS_DAYS: '30',
      STRAND_KEEP_AUDIT_DAYS: '30',
    }
  }

  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const port = await freePort()
    this.#url = `http://127.0.0.1:${port}`
    this.#process = new StrandProcess(['serve', '--listen', `127.0.0.1:${port}`], {
      environment: { ...this.#environment, ...settings, ...this.#clock.environment },
    })
    await this.#process.serving()
  }

  async stop(): Promise<void> {
    await this.#process?.end('SIGTERM')
  }

  get log(): string {
    return this.#process?.stderr ?? ''
  }

  async call(method: string, path: string, token: string | undefined, body?: unknown) {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as any }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
  async control(method: string, path: string, body?: unknown): Promise<any> {
    const { status, body: answer } = await this.call(method, `/control${path}`, OPERATOR_TOKEN, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`)
    return answer?.data?.[0]
  }

  /** The sum over workers. */
  async metric(name: string, label: string): Promise<number> {
    const { series } = await scrape(this.#url)
    return [...series]
      .filter(([key]) => key.startsWith(`${name}{`) && key.includes(label))
      .reduce((sum, [, value]) => sum + value, 0)
  }

  /** Waits until sweeps that began after this call have ended. */
  async sweptTwice(): Promise<void> {
    const before = await this.metric('strand_sweeps_total', 'outcome="done"')
    const deadline = performance.now() + MAX_WAIT_MILLISECONDS
    while ((await this.metric('strand_sweeps_total', 'outcome="done"')) < before + 2) {
      if (performance.now() > deadline) throw new Error(`no sweep has ended: ${this.log.slice(-2000)}`)
      await Bun.sleep(50)
    }
  }
}

for (const engine of engines) {
  describe.skipIf(clockOrWhy === undefined)(`clocks that jump on ${engine}`, () => {
    const clock = clockOrWhy as ShiftedClock
    let folder = ''
    let postgres: PostgresServer | undefined
    let server: Server

    beforeAll(async () => {
      clock.set(0)
      folder = mkdtempSync(join(tmpdir(), 'strand-clock-jumps-'))
      postgres = engine === 'postgres' ? await startPostgres({ environment: clock.environment }) : undefined
      server = new Server(clock, folder, postgres?.url.replace(/\/postgres$/, `/${TEMPLATE_DATABASE}`))
    })
    afterAll(async () => {
      await server.stop()
      await postgres?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    test(
      'nothing is lost, no user stays locked out, and sweeps continue',
      async () => {
        await server.start()
        await server.control('PUT', '/users/1001', { login: 'first_user' })
        await server.control('PUT', '/channels/1001/stream', {})
        await server.control('DELETE', '/channels/1001/stream')
        const video = (await server.control('GET', '/videos')).id
        const client = (await server.control('POST', '/clients', { name: 'A client' })).id
        const { access_token: token } = await server.control('POST', '/tokens', {
          client_id: client,
          user_id: '1001',
          expires_in: 3600,
        })
        const ask = async () => (await server.call('GET', '/helix/streams', token)).status
        const isKept = async () =>
          (await server.call('GET', `/control/videos/${video}`, OPERATOR_TOKEN)).status
        const auditRows = async () =>
          (await server.call('GET', '/control/audit?first=100', OPERATOR_TOKEN)).body.data.length
        const rows = await auditRows()
        expect([await ask(), await isKept()]).toEqual([200, 200])
        await server.sweptTwice()

        // Two months ahead for a while: what has expired is refused, and nothing is deleted.
        clock.set(60 * DAY)
        await server.sweptTwice()
        expect([await ask(), await isKept(), await auditRows()]).toEqual([401, 200, rows])
        clock.set(0)
        await server.sweptTwice()
        expect([await ask(), await isKept(), await auditRows()]).toEqual([200, 200, rows])
        expect(server.log.match(/the clock advanced more than the time since/g)).toHaveLength(1)
        expect(server.log.match(/the clock was set back/g)).toHaveLength(1)
        expect(await server.metric('strand_clock_jumps_total', 'forward')).toBe(1)

        // A limit that is used up is full again after its window, by whatever clock.
        const guess = async () =>
          (
            await server.call(
              'POST',
              `/oauth2/token?client_id=${client}&client_secret=wrong&grant_type=client_credentials`,
              undefined,
            )
          ).status
        let guesses = 0
        while ((await guess()) !== 429) expect(++guesses).toBeLessThan(200)
        clock.set(-5 * HOUR)
        expect(await guess()).toBe(429)
        clock.set(-5 * HOUR + 16 * MINUTE)
        // A single process counts in memory, on a clock that does not jump.
        expect(await guess()).toBe(engine === 'postgres' ? 403 : 429)

        // The process that had the turn to sweep is gone, and had it until a time that is five hours away.
        await server.stop()
        clock.set(-10 * HOUR)
        await server.start()
        await server.sweptTwice()
        expect(await isKept()).toBe(200)

        // Nothing ran for two months. That is believed once the clock has settled, here at once.
        await server.stop()
        clock.set(60 * DAY)
        await server.start()
        await server.sweptTwice()
        expect(await isKept()).toBe(200)
        await server.stop()
        await server.start({ STRAND_CLOCK_SETTLING_HOURS: '0' })
        await server.sweptTwice()
        expect(await isKept()).toBe(404)
      },
      5 * MINUTE,
    )
  })
}
