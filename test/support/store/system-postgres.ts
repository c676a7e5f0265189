/** The newest PostgreSQL of the system, which has pg_dump and the other programs that the one from npm lacks. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './postgres.ts'

const LOCAL_PEER = 65_534
const identity = process.getuid?.() === 0 ? { uid: LOCAL_PEER, gid: LOCAL_PEER } : {}
const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'createdb', 'pg_basebackup']

function findBin(): string | undefined {
  const home = '/usr/lib/postgresql'
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : []
  return versions
    .map(version => join(home, version, 'bin'))
    .find(folder => PROGRAMS.every(program => existsSync(join(folder, program))))
}

const bin = findBin()
export const hasSystemPostgres = bin !== undefined

/** A folder for data of the server, which does not run as root. */
export function createScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'strand-pg-'))
  chmodSync(folder, 0o755)
  if (identity.uid !== undefined) chownSync(folder, LOCAL_PEER, LOCAL_PEER)
  return folder
}

/** Runs lines of a shell in a folder, with the programs of PostgreSQL. */
export function runShell(folder: string, lines: string, environment: Readonly<Record<string, string>>): void {
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', lines], {
    cwd: folder,
    encoding: 'utf8',
    ...identity,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...environment },
  })
  if (status !== 0) throw new Error(`${lines} ended with ${status}: ${stderr}`)
}

export interface SystemPostgres {
  /** Of the database `postgres`. */
  readonly url: string
  stop(): Promise<void>
}

/** Creates a folder of data and starts a server on it. */
export function createSystemPostgres(
  data: string,
  settings: readonly string[] = [],
): Promise<SystemPostgres> {
  const folder = join(data, '..')
  runShell(folder, 'initdb -D "$DATA" -U postgres -A trust -E UTF8 --locale=C', { DATA: data })
  return startSystemPostgres(data, settings)
}

/** Starts a server on a folder of data. */
export async function startSystemPostgres(
  data: string,
  settings: readonly string[] = [],
): Promise<SystemPostgres> {
  const port = await freePort()
  const options = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    ...settings,
  ]
  const server = Bun.spawn(
    [join(bin as string, 'postgres'), '-D', data, ...options.flatMap(each => ['-c', each])],
    {
      ...identity,
      cwd: join(data, '..'),
      stdout: 'ignore',
      stderr: 'ignore',
    },
  )
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  for (;;) {
    const client = new SQL(url, { max: 1 })
    const writable = await client.unsafe('select pg_is_in_recovery() as standing').then(
      ([row]) => !row.standing,
      () => false,
    )
    await client.close()
    if (writable) break
    if (server.exitCode !== null) throw new Error('PostgreSQL did not start')
    await Bun.sleep(50)
  }
  return {
    url,
    stop: async () => {
      server.kill('SIGINT')
      await server.exited
    },
  }
}

/** Runs a statement, and gives its rows. */
// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement selects
export async function executeAt(url: string, statement: string): Promise<any[]> {
  const client = new SQL(url, { max: 1 })
  try {
    return await client.unsafe(statement)
  } finally {
    await client.close()
  }
}

export function removeScratchFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
