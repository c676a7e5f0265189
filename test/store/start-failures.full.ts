/** Why a PostgreSQL cannot be used at the start, reported by host; and waiting for one that is not there yet. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { Unavailable } from '../../src/store/errors.ts'
import { explainConnection } from '../../src/store/postgres/connection-failure.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { behindCables } from '../support/proxies/cable.ts'
import { engines } from '../support/server.ts'
import { freePort, type PostgresServer, startPostgres } from '../support/store/postgres.ts'

const OPTIONS = { connections: 4, pooled: false }
const SECRET = 'hunter2-canary'

const HBA = `
host all postgres 127.0.0.1/32 trust
host all stranger,visitor 127.0.0.1/32 trust
host all alice,visitor 127.0.0.1/32 scram-sha-256
`

describe.skipIf(!engines.includes('postgres'))('PostgreSQL that cannot be used', () => {
  let server: PostgresServer
  let base = ''
  /** By the name of the case. Each is waited for as long as the store tries again, so all are tried at once. */
  let reasons: ReadonlyMap<string, string>
  beforeAll(async () => {
    server = await startPostgres()
    base = new URL(server.url).host
    const admin = new SQL(server.url, { max: 1 })
    await admin.unsafe("create role alice login password 'right-password'")
    await admin.unsafe('create role visitor')
    await admin.unsafe('create role barred login')
    await admin.unsafe('create database closed')
    await admin.unsafe('revoke connect on database closed from public')
    const [{ hba_file }] = await admin.unsafe('show hba_file')
    writeFileSync(hba_file, HBA)
    await admin.unsafe('select pg_reload_conf()')
    await admin.close()
    reasons = new Map(
      await Promise.all(
        cases.map(async ([what, url]) => [what, await reasonOf(`postgres://${await url()}`)] as const),
      ),
    )
  }, 60_000)
  afterAll(() => server.stop())
  afterEach(endAllProcesses)

  const reasonOf = (url: string) =>
    openPostgresEngine(url, OPTIONS).then(
      async engine => {
        await engine.close()
        return 'opened'
      },
      (error: Error) => (error instanceof Unavailable ? error.message : String(error.stack)),
    )

  test('a primary that was found is waited for while its connections open slowly', async () => {
    const { cables, databaseUrl, remove } = await behindCables(1)
    // A probe takes a few of these, and the first connections of the pools after it take several more.
    cables[0]?.delay(150)
    expect(await reasonOf(databaseUrl)).toBe('opened')
    await remove()
  })

  const cases: readonly (readonly [string, () => string | Promise<string>, RegExp])[] = [
    [
      'a wrong password',
      () => `alice:${SECRET}@${base}/postgres`,
      /the password is wrong, or role "alice" does not exist/,
    ],
    [
      'a role that does not exist',
      () => `stranger@${base}/postgres`,
      /role "stranger" does not exist: create/,
    ],
    ['a role that may not log in', () => `visitor@${base}/postgres`, /role "visitor" may not log in/],
    [
      'a role that pg_hba.conf does not know',
      () => `barred:${SECRET}@${base}/postgres`,
      /pg_hba\.conf does not allow role "barred" to connect to database "postgres" without TLS.*sslmode=require/,
    ],
    ['a database that does not exist', () => `postgres@${base}/nothing`, /database "nothing" does not exist/],
    [
      'a database that the role may not use',
      () => `alice:right-password@${base}/closed`,
      /role "alice" may not connect to database "closed"/,
    ],
    ['TLS that is not offered', () => `postgres@${base}/postgres?sslmode=require`, /does not offer TLS/],
    ['a closed port', async () => `postgres@127.0.0.1:${await freePort()}/x`, /the connection was refused/],
    ['an unknown host', () => `postgres:${SECRET}@strand.invalid/x`, /"strand\.invalid" cannot be resolved/],
  ]
  for (const [what, , sentence] of cases) {
    test(`${what}: the reason names the host, the cause and no secret`, () => {
      const reason = reasons.get(what)
      expect(reason).toMatch(/^no writable PostgreSQL server: [\w.]+(:\d+)?: /)
      expect(reason).toMatch(sentence)
      expect(reason).not.toContain(SECRET)
    })
  }

  test('several hosts: the reason of each', async () => {
    const port = await freePort()
    const reason = await reasonOf(`postgres://alice:${SECRET}@${base},127.0.0.1:${port}/postgres`)
    expect(reason).toContain(`${base}: the password is wrong`)
    expect(reason).toContain(`127.0.0.1:${port}: the connection was refused`)
  })

  test('strand serve and strand doctor report it, in one line and without the password', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-start-'))
    const environment = { DATABASE_URL: `postgres://alice:${SECRET}@${base}/postgres`, STRAND_DATA: folder }
    const strand = new StrandProcess(['serve', '--listen', 'localhost:0'], { environment })
    expect(await strand.exit()).toBe(1)
    expect(strand.stderr).toMatch(/^strand: the store cannot be opened: .*the password is wrong.*\n$/)
    const doctor = new StrandProcess(['doctor', '--listen', `localhost:${await freePort()}`], { environment })
    expect(await doctor.exit()).toBe(1)
    expect(doctor.stdout).toContain('cannot be queried: the password is wrong')
    expect(strand.stderr + doctor.stdout + doctor.stderr).not.toContain(SECRET)
    rmSync(folder, { recursive: true })
  })

  test('a role that may not create tables: one line with what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-start-'))
    const strand = new StrandProcess(['serve', '--listen', 'localhost:0', '--data', folder], {
      environment: { DATABASE_URL: `postgres://alice:right-password@${base}/postgres` },
    })
    expect(await strand.exit()).toBe(1)
    expect(strand.stderr.trimEnd()).toMatch(
      /strand: the store cannot be opened: PostgreSQL: permission denied .*owner of the database$/,
    )
    rmSync(folder, { recursive: true })
  })
})

describe('what else PostgreSQL and its client report', () => {
  const target = { host: 'db', role: 'strand', database: 'strand' }
  for (const [code, errno, message, sentence] of [
    ['ERR_POSTGRES_SERVER_ERROR', '53300', 'sorry, too many clients already', /no connections left/],
    ['ERR_POSTGRES_SERVER_ERROR', '57P03', 'the database system is starting up', /starting up/],
    ['ERR_POSTGRES_CONNECTION_TIMEOUT', undefined, 'Connection timeout', /does not answer in time/],
    ['ERR_POSTGRES_CONNECTION_CLOSED', undefined, 'Connection closed', /closed the connection/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined, 'self signed certificate', /TLS handshake failed/],
    ['ERR_POSTGRES_SERVER_ERROR', 'XX000', 'something new', /^something new$/],
  ] as const) {
    test(`${message}`, () =>
      expect(explainConnection({ code, errno, message }, target, false)).toMatch(sentence))
  }
})

describe.skipIf(!engines.includes('postgres'))('STRAND_STORE_WAIT_SECONDS', () => {
  afterEach(endAllProcesses)

  async function startWithoutStore() {
    const { cables, databaseUrl, remove } = await behindCables(1)
    cables[0]?.cut()
    const folder = mkdtempSync(join(tmpdir(), 'strand-wait-'))
    const url = `http://localhost:${await freePort()}`
    const strand = new StrandProcess(['serve', '--listen', new URL(url).host, '--data', folder], {
      environment: { DATABASE_URL: databaseUrl, STRAND_STORE_WAIT_SECONDS: '120' },
    })
    await strand.until(({ stderr }) => stderr.includes('waiting for the store'))
    const close = async () => {
      await remove()
      rmSync(folder, { recursive: true })
    }
    return { strand, url, mend: () => cables[0]?.mend(), close }
  }

  test('serve is alive and not ready until the store is there, and reports why it waits', async () => {
    const { strand, url, mend, close } = await startWithoutStore()
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
    expect(strand.stderr).toMatch(/"reason":"no writable PostgreSQL server: 127\.0\.0\.1:\d+: /)
    mend()
    await strand.serving()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await strand.end('SIGTERM')).toBe(0)
    await close()
  }, 60_000)

  test('a signal ends the waiting in good order', async () => {
    const { strand, close } = await startWithoutStore()
    expect(await strand.end('SIGTERM')).toBe(0)
    expect(strand.stderr).toContain('stopped during startup')
    await close()
  }, 60_000)
})
