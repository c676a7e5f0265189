/**
 * The lines of docs/backup.md for PostgreSQL, run unchanged. The server is one that comes with pg_dump: an
 * older one refuses a newer server.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import {
  createScratchFolder,
  createSystemPostgres,
  executeAt,
  hasSystemPostgres,
  removeScratchFolder,
  runShell,
  type SystemPostgres,
  startSystemPostgres,
} from '../support/store/system-postgres.ts'
import { Installation, makeSmallWorld, runStrand } from './installation.ts'

if (!hasSystemPostgres) {
  process.stderr.write('\n!!! SKIPPED: the lines of docs/backup.md. No PostgreSQL has all its programs.\n\n')
}

/** The block of shell lines under a heading of the document; the n-th, counted from 0. */
function documented(heading: string, n: number): string {
  const [, section = ''] = readFileSync('docs/backup.md', 'utf8').split(`### ${heading}\n`)
  const block = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)][n]?.[1]
  if (block === undefined) throw new Error(`docs/backup.md has no such block under ${heading}`)
  return block
}

const scratch = createScratchFolder()
const shell = (lines: string, environment: Readonly<Record<string, string>>) =>
  runShell(scratch, lines, environment)

afterEach(endAllProcesses)
afterAll(() => removeScratchFolder(scratch))

describe.skipIf(!hasSystemPostgres)('docs/backup.md for PostgreSQL', () => {
  const archive = join(scratch, 'wal')
  const folder = join(scratch, 'strand')
  let postgres: SystemPostgres
  let url: string

  beforeAll(async () => {
    mkdirSync(archive)
    const { uid, gid } = statSync(scratch)
    chownSync(archive, uid, gid)
    const archiving = [`archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`, 'archive_mode=on']
    postgres = await createSystemPostgres(join(scratch, 'pg'), archiving)
    await executeAt(postgres.url, 'create database strand')
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
    const [{ moment }] = await executeAt(url, 'select clock_timestamp()::text as moment')
    await strand.control('PUT', '/users/82', { login: 'after_the_moment' })
    await strand.process.end('SIGTERM')
    // A full segment is archived at once; the name of the last one that has to be there is known beforehand.
    const [{ name }] = await executeAt(url, 'select pg_walfile_name(pg_current_wal_lsn()) as name')
    await executeAt(url, 'select pg_switch_wal()')
    while (!existsSync(join(archive, name))) await Bun.sleep(20)

    const lines = documented('Point-in-time recovery', 1).replaceAll('/var/backups/wal', archive)
    shell(lines, { BASE_BACKUP: base, MOMENT: moment })
    const recovered = await startSystemPostgres(base, ['archive_mode=off'])
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
