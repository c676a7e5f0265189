/**
 * The lines of docs/backup.md for PostgreSQL, run as they stand there. The server is one that came with its own pg_dump: an
 * older one refuses a newer server.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from '../support/postgres.ts'
import { endAllProcesses } from '../support/strand-process.ts'
import { Installation, makeSmallWorld, runStrand } from './installation.ts'

const LOCAL_PEER = 65_534
const identity = process.getuid?.() === 0 ? { uid: LOCAL_PEER, gid: LOCAL_PEER } : {}
const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'createdb', 'pg_basebackup']

const bin = findBin()
if (bin === undefined) {
  process.stderr.write('\n!!! SKIPPED: the lines of docs/backup.md. No PostgreSQL has all its programs.\n\n')
}

/** The folder with the programs of the newest PostgreSQL of the system. */
function findBin(): string | undefined {
  const home = '/usr/lib/postgresql'
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : []
  return versions
    .map(version => join(home, version, 'bin'))
    .find(folder => PROGRAMS.every(program => existsSync(join(folder, program))))
}

/** The block of shell lines under a heading of the document; the n-th, counted from 0. */
function documented(heading: string, n: number): string {
  const [, section = ''] = readFileSync('docs/backup.md', 'utf8').split(`### ${heading}\n`)
  const block = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)][n]?.[1]
  if (block === undefined) throw new Error(`docs/backup.md has no such block under ${heading}`)
  return block
}

const scratch = mkdtempSync(join(tmpdir(), 'strand-pg-'))

function shell(lines: string, environment: Readonly<Record<string, string>>): void {
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', lines], {
    cwd: scratch,
    encoding: 'utf8',
    ...identity,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...environment },
  })
  if (status !== 0) throw new Error(`${lines} ended with ${status}: ${stderr}`)
}

/** A server of the system's PostgreSQL on a folder of data. */
async function serve(data: string, port: number, settings: readonly string[] = []) {
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
      cwd: scratch,
      stdout: 'ignore',
      stderr: 'ignore',
    },
  )
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  for (;;) {
    const client = new SQL(url, { max: 1 })
    const writable = await client.unsafe('select pg_is_in_recovery() as standing').then(
      ([row]) => !row.summary,
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

async function ask(url: string, statement: string) {
  const client = new SQL(url, { max: 1 })
  try {
    return await client.unsafe(statement)
  } finally {
    await client.close()
  }
}

afterEach(endAllProcesses)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.skipIf(bin === undefined)('docs/backup.md for PostgreSQL', () => {
  const data = join(scratch, 'pg')
  const archive = join(scratch, 'wal')
  const folder = join(scratch, 'strand')
  let postgres: Awaited<ReturnType<typeof serve>>
  let url: string

  beforeAll(async () => {
    chmodSync(scratch, 0o755)
    mkdirSync(archive)
    if (identity.uid !== undefined)
      for (const each of [scratch, archive]) chownSync(each, LOCAL_PEER, LOCAL_PEER)
    shell(`initdb -D "$DATA" -U postgres -A trust -E UTF8 --locale=C`, { DATA: data })
    const archiving = [`archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`, 'archive_mode=on']
    postgres = await serve(data, await freePort(), archiving)
    await ask(postgres.url, 'create database strand')
    url = postgres.url.replace(/postgres$/, 'strand')
  })
  afterAll(() => postgres?.stop())

  test('a dump is restored beside, and served with the same tokens and stream keys', async () => {
    const strand = await Installation.start(folder, { DATABASE_URL: url })
    const world = await makeSmallWorld(strand, 2)
    const [user] = world.users as [(typeof world.users)[number]]
    const path = `/helix/streams/key?broadcaster_id=${user.id}`
    const key = await strand.call(user.token, 'GET', path)
    const restored = url.replace(/strand$/, 'strand_restored')
    shell(documented('pg_dump', 0), { DATABASE_URL: url, RESTORED_URL: restored })
    await strand.control('PUT', '/users/7', { login: 'after_the_dump' })

    const again = await Installation.start(folder, { DATABASE_URL: restored })
    expect(await again.call(user.token, 'GET', path)).toEqual(key)
    expect((await again.control('GET', '/users')).data).toHaveLength(2)
    const doctor = await runStrand(['doctor', '--json', '--data', folder, '--listen', 'localhost:0'], {
      DATABASE_URL: restored,
    })
    const problems = JSON.parse(doctor.stdout).findings.filter(
      (each: { level: string }) => each.level === 'problem',
    )
    expect(problems.map((each: { message: string }) => each.message)).toEqual([
      'fsync is off: a power failure can destroy the database',
    ])
  })

  test('the server goes back to a moment', async () => {
    const base = join(scratch, 'base')
    shell(documented('Point-in-time recovery', 0), { SERVER_URL: postgres.url, BASE_BACKUP: base })
    const strand = await Installation.start(folder, { DATABASE_URL: url })
    await strand.control('PUT', '/users/81', { login: 'before_the_moment' })
    const [{ moment }] = await ask(url, 'select clock_timestamp()::text as moment')
    await strand.control('PUT', '/users/82', { login: 'after_the_moment' })
    await strand.process.end('SIGTERM')
    // A full segment is archived at once; the name of the last one that has to be there is known beforehand.
    const [{ name }] = await ask(url, 'select pg_walfile_name(pg_current_wal_lsn()) as name')
    await ask(url, 'select pg_switch_wal()')
    while (!existsSync(join(archive, name))) await Bun.sleep(20)

    const lines = documented('Point-in-time recovery', 1).replaceAll('/var/backups/wal', archive)
    shell(lines, { BASE_BACKUP: base, MOMENT: moment })
    const recovered = await serve(base, await freePort(), ['archive_mode=off'])
    try {
      const DATABASE_URL = recovered.url.replace(/postgres$/, 'strand')
      const back = await Installation.start(folder, { DATABASE_URL })
      const ids = (await back.control('GET', '/users')).data.map((each: { id: string }) => each.id)
      expect(ids).toContain('81')
      expect(ids).not.toContain('82')
      expect(await back.process.end('SIGTERM')).toBe(0)
    } finally {
      await recovered.stop()
    }
  })
})
