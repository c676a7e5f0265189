/**
 * A real PostgreSQL for the tests, from the binaries inside an npm package. It runs for one test run in a temporary
 * folder, on loopback, without waiting for the disk. Its default collation is a dictionary's on purpose: a key that forgets
 * to ask for byte order shows up as a torn page.
 */
import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { lazy } from '../../../src/kit/lazy.ts'
import { openPostgresEngine } from '../../../src/store/postgres/postgres.ts'
import { memory } from './memory.ts'
import { findBinaries } from './postgres-binaries.ts'

export interface PostgresServer {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string
  /** Ends all its processes at once, as a crash does, and starts it again. Returns when it answers. */
  crash(): Promise<void>
  stop(): Promise<void>
}

interface PostgresOptions {
  /** Waits for the disk. */
  readonly durable?: boolean
  /** An existing folder in which to put the data, for a server that is not durable; default: a temporary one. */
  readonly under?: string | undefined
  /** What the server is to find in its environment beside ours. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * What a crash of the machine needs and one of PostgreSQL does not: its data lies in memory. Each database that a test creates
 * or drops is a checkpoint, after which every page that changes would be in the log whole.
 */
const NOT_DURABLE = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '4GB',
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { durable = false, environment = {} } = options
  const folder = mkdtempSync(join(tmpdir(), 'strand-postgres-'))
  const { initdb, postgres, identity } = await findBinaries(folder)
  const data = mkdtempSync(join(options.under ?? folder, 'data-'))
  if (identity.uid !== undefined) chownSync(data, identity.uid, identity.uid)
  const created = spawnSync(
    initdb,
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      ...(durable ? [] : ['--no-sync', '--no-data-checksums']),
    ],
    { ...identity, cwd: folder, encoding: 'utf8' },
  )
  if (created.status !== 0) throw new Error(`initdb failed: ${created.stderr || created.error}`)

  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    ...(durable ? {} : NOT_DURABLE),
  }
  const spawn = () =>
    Bun.spawn(
      [
        postgres,
        '-D',
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...identity,
        cwd: folder,
        env: { ...process.env, ...environment },
        stdout: 'ignore',
        stderr: 'ignore',
      },
    )
  let server = spawn()
  const remove = () => {
    for (const each of [data, folder]) rmSync(each, { recursive: true, force: true })
  }
  // A run that is interrupted does not stop its server, and must not leave it behind.
  const abandon = () => {
    server.kill('SIGQUIT')
    remove()
  }
  process.once('exit', abandon)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilItAnswers(url, server)
  await createTemplate(url)
  return {
    url,
    crash: async () => {
      server.kill('SIGQUIT')
      await server.exited
      server = spawn()
      await untilItAnswers(url, server)
    },
    stop: async () => {
      server.kill('SIGINT')
      await server.exited
      process.off('exit', abandon)
      remove()
    },
  }
}

/** A database with the schema in it, from which tests copy theirs: faster than migrating each. */
export const TEMPLATE_DATABASE = 'strand_template'

async function createTemplate(url: string): Promise<void> {
  await createDatabase(url, TEMPLATE_DATABASE, undefined)
  const template = databaseAt(url, TEMPLATE_DATABASE)
  const engine = await openPostgresEngine(template, { connections: 1, pooled: false })
  await engine.close()
}

/** Creates a database, as a copy of another one unless it is to be empty. In memory, copying files is fastest. */
export function createDatabase(url: string, name: string, template: string | undefined): Promise<void> {
  const strategy = memory === undefined ? '' : ' strategy file_copy'
  const source = template === undefined ? '' : ` template ${template}${strategy}`
  return administer(url, `create database ${name}${source}`)
}

/** That of the run serves all tests of a process, which would otherwise connect for each database. */
const ownServer = lazy(() => new SQL(process.env.TEST_DATABASE_URL ?? '', { max: 4 }))

/** Runs a statement as the superuser. */
export async function administer(url: string, statement: string): Promise<void> {
  if (url === process.env.TEST_DATABASE_URL) {
    await ownServer().unsafe(statement)
    return
  }
  const client = new SQL(url, { max: 1 })
  await client.unsafe(statement)
  await client.close()
}

/** The URL of a database on the server of this URL. */
export function databaseAt(url: string, name: string): string {
  return url.replace(/\/postgres$/, `/${name}`)
}

async function untilItAnswers(url: string, server: { exitCode: number | null }): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const client = new SQL(url, { max: 1 })
    try {
      await client.unsafe('select 1')
      return
    } catch (error) {
      if (server.exitCode !== null || performance.now() > deadline) throw error
      await Bun.sleep(20)
    } finally {
      await client.close()
    }
  }
}

/**
 * Below the ports that the system gives to connections: one of those could be taken again before the test listens on it.
 * Each process begins elsewhere.
 */
const PORTS = { first: 10_000, count: 20_000 }
let nextPort = Math.floor(Math.random() * PORTS.count)

/** A port on which nothing listens, neither at 127.0.0.1 nor at ::1. */
export async function freePort(): Promise<number> {
  for (;;) {
    nextPort = (nextPort + 1) % PORTS.count
    const port = PORTS.first + nextPort
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, '::1'))) return port
  }
}

/** True also where the machine does not have the address. */
function isFree(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}
