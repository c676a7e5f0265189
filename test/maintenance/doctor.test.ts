/** Real faults, and what `strand doctor` reports about them. */
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { Finding } from '../../src/maintenance/finding.ts'
import { ResidentStrand } from '../cli/resident-strand.ts'
import { type Environment, endAllProcesses } from '../support/cli/strand-process.ts'
import { S3Server } from '../support/media/s3-server.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { Installation, makeSmallWorld, runStrand } from './installation.ts'

const scratch = mkdtempSync(join(tmpdir(), 'strand-doctor-'))
const healthy = join(scratch, 'healthy')
const smallDisk = join(scratch, 'small-disk')

function mountSmallDisk(): string {
  mkdirSync(smallDisk, { recursive: true })
  const options = ['-t', 'tmpfs', '-o', 'size=20m,mode=700', 'tmpfs', smallDisk]
  const { exitCode, stderr } = Bun.spawnSync(['mount', ...options])
  if (exitCode !== 0) throw new Error(`mount: ${stderr}`)
  return smallDisk
}

/** Root may mount, except in some containers. */
function canMount(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    Bun.spawnSync(['umount', mountSmallDisk()])
    return true
  } catch {
    process.stderr.write('\n!!! SKIPPED: the doctor on a full disk. A tmpfs could not be mounted.\n\n')
    return false
  }
}
let copies = 0

beforeAll(async () => {
  const strand = await Installation.start(healthy)
  await makeSmallWorld(strand, 2)
  await strand.process.end('SIGTERM')
})
afterEach(endAllProcesses)
const strands = new ResidentStrand()
const shell = strands.shellIn(scratch)
afterAll(async () => {
  await strands.stop()
  rmSync(scratch, { recursive: true, force: true })
})

function copy(): string {
  const folder = join(scratch, `copy-${++copies}`)
  cpSync(healthy, folder, { recursive: true })
  chmodSync(folder, 0o700)
  return folder
}

/** Another program may have the port of the default. */
const freeListener = async (words: readonly string[]) =>
  words.includes('--listen') ? [] : ['--listen', `localhost:${await freePort()}`]

async function doctor(words: readonly string[], environment: Environment = {}) {
  const { code, stdout } = await shell.runWords(
    ['doctor', '--json', ...(await freeListener(words)), ...words],
    environment,
  )
  const { findings, problems } = JSON.parse(stdout) as { findings: Finding[]; problems: number }
  expect(problems).toBe(findings.filter(each => each.level === 'problem').length)
  expect(code).toBe(problems === 0 ? 0 : 1)
  return findings
}

const worst = (findings: readonly Finding[], about: string) =>
  findings.filter(each => each.about === about && each.level !== 'ok')

describe('strand doctor', () => {
  test('finds nothing wrong where nothing is, served or not, and changes nothing', async () => {
    const folder = copy()
    const before = readdirSync(folder).sort()
    const findings = await doctor(['--data', folder])
    expect(findings.filter(each => each.level === 'problem')).toEqual([])
    expect(findings.filter(each => each.about === 'store')).toHaveLength(1)
    const listening = await doctor(['--data', folder, '--listen', 'localhost:9'])
    expect(listening.find(each => each.about === 'listeners')?.message).toContain('localhost:9')
    for (const about of [
      'store',
      'schema',
      'key ring',
      'files',
      'disk space',
      'disk speed',
      'limits',
      'listeners',
    ]) {
      expect(findings.map(each => each.about)).toContain(about)
    }
    expect(
      readdirSync(folder)
        .filter(name => !/-(wal|shm)$/.test(name))
        .sort(),
    ).toEqual(before)

    const strand = await Installation.start(folder)
    const served = await doctor(['--data', folder, '--url', strand.url])
    expect(served.filter(each => each.level === 'problem')).toEqual([])
    expect(served.find(each => each.message === 'a server has the store open')).toBeDefined()
    expect(served.filter(each => each.about === 'clock').map(each => each.level)).toEqual(['ok', 'ok'])
  })

  test('names a port that another program uses, and accepts one that Strand uses', async () => {
    const folder = copy()
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('{"status":"ok"}') })
    const taken = await doctor(['--data', folder, '--listen', `localhost:${other.port}`])
    expect(worst(taken, 'listeners')).toMatchObject([
      { level: 'problem', message: expect.stringContaining(`port ${other.port} is in use`) },
    ])
    await other.stop(true)
    const operator = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: () => undefined, open: socket => void socket.end('no HTTP\n') },
    })
    const silent = await doctor(['--data', folder, '--operator-listen', `localhost:${operator.port}`])
    expect(worst(silent, 'listeners')[0]?.advice).toContain('STRAND_OPERATOR_LISTEN')
    operator.stop(true)
    const strand = await Installation.start(folder)
    const own = await doctor(['--data', folder, '--listen', new URL(strand.url).host])
    expect(worst(own, 'listeners')).toEqual([])
    expect(
      own.find(({ message }) => message === `a Strand server is listening on ${new URL(strand.url).host}`),
    ).toBeDefined()
  })

  test('names a media server that does not answer, and one whose API is of something else', async () => {
    const folder = copy()
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response('{}', { headers: { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' } }),
    })
    const add = async (name: string, adapter: string, url: string) => {
      const words = ['media', 'add', adapter, name, '--api-url', url, '--data', folder]
      expect((await runStrand(words)).code).toBe(0)
    }
    await add('gone', 'srs', `http://127.0.0.1:${await freePort()}`)
    await add('wrong', 'nginx-rtmp', `http://127.0.0.1:${other.port}`)
    await add('early', 'mediamtx', `http://127.0.0.1:${other.port}`)
    const findings = await doctor(['--data', folder])
    expect(worst(findings, 'media server gone')[0]?.message).toContain('cannot be used')
    expect(worst(findings, 'media server wrong')[0]?.message).toContain('no application "live"')
    expect(worst(findings, 'media server early')[0]?.message).toContain('its clock differs')
    const { code, stdout } = await runStrand(['media', 'check', 'gone', '--data', folder])
    expect([code, stdout]).toEqual([1, expect.stringContaining('problem  the API at')])
    await other.stop(true)
  })

  test('names users whose login is reserved by now, and how to rename them', async () => {
    const folder = copy()
    expect(worst(await doctor(['--data', folder]), 'users')).toEqual([])
    const db = new Database(join(folder, 'strand.db'))
    db.run("update users set login = 'games' where id = (select min(id) from users)")
    db.close()
    const [finding, ...others] = worst(await doctor(['--data', folder]), 'users')
    expect([finding?.level, finding?.message, others]).toEqual([
      'warning',
      expect.stringContaining('the login "games" is reserved'),
      [],
    ])
    // The advice works.
    const words = /strand (.*)$/
      .exec(finding?.advice ?? '')?.[1]
      ?.replace('NEW_LOGIN', 'all_games')
      .split(' ')
    expect((await runStrand([...(words ?? []), '--data', folder])).code).toBe(0)
    expect(worst(await doctor(['--data', folder]), 'users')).toEqual([])
  })

  test('a media server gets another secret with --rotate, and the configuration contains it', async () => {
    const folder = copy()
    const add = async (...words: string[]) => {
      const { code, stdout } = await runStrand([
        'media',
        'add',
        'node-media-server',
        'small',
        ...words,
        '--data',
        folder,
      ])
      expect(code).toBe(0)
      const { auth, notify } = JSON.parse(stdout) as {
        auth: { jwt: { secret: string } }
        notify: { url: string }
      }
      return [auth.jwt.secret, notify.url] as const
    }
    const [first, again, rotated] = [await add(), await add(), await add('--rotate')]
    expect(again).toEqual(['<secret>', expect.stringContaining('/ingest/node-media-server/small/<secret>')])
    expect(first[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(rotated[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(rotated[1]).toMatch(/\/small\/smed_\w+$/)
    expect([rotated[0] === first[0], rotated[1] === first[1]]).toEqual([false, false])
  })

  test('writes, reads and deletes an object of the bucket, and reads its CORS rule', async () => {
    const [open, closed] = [await S3Server.start(), await S3Server.start({ cors: undefined })]
    const folder = copy()
    const about = async (environment: Environment) =>
      (await doctor(['--data', folder], environment)).filter(each => each.about === 'object storage')
    expect(await about({})).toEqual([])
    expect(await about(open.environment)).toMatchObject([{ level: 'ok' }])
    expect([await open.keys(), open.requests.map(each => each.split(' ')[0])]).toEqual([
      [],
      ['PUT', 'GET', 'DELETE'],
    ])
    const [unread] = await about(closed.environment)
    expect([unread?.level, unread?.message]).toEqual([
      'problem',
      expect.stringContaining('does not let pages of every origin read'),
    ])
    expect(await closed.keys()).toEqual([])
    const secret = { STRAND_S3_SECRET_ACCESS_KEY: 'a-wrong-secret' }
    const [wrong] = await about({ ...open.environment, ...secret, STRAND_S3_ACCESS_KEY_ID: 'unknown' })
    expect(wrong?.message).toContain('cannot write an object')
    expect(JSON.stringify(wrong)).not.toContain('a-wrong-secret')
    open.fault = method => (method === 'DELETE' ? 'fail' : undefined)
    expect((await about(open.environment))[0]?.message).toContain('cannot delete an object')
    const { environment } = open
    await open.stop()
    expect((await about(environment))[0]?.message).toContain('cannot write an object')
    await closed.stop()
  })

  test('names the settings of object storage that are missing', async () => {
    const { code, stdout, stderr } = await shell.runWords(['doctor', '--data', copy()], {
      STRAND_S3_ENDPOINT: 'http://127.0.0.1:9',
      STRAND_S3_SECRET_ACCESS_KEY: 'a-secret-that-is-not-shown',
    })
    expect(code).not.toBe(0)
    for (const name of ['STRAND_S3_BUCKET', 'STRAND_S3_ACCESS_KEY_ID'])
      expect(stdout).toContain(`missing ${name}`)
    expect(stdout + stderr).not.toContain('a-secret-that-is-not-shown')
  })

  test('finds stream keys in the names of HLS files', async () => {
    const folder = copy()
    const hls = join(scratch, 'hls')
    mkdirSync(join(hls, 'live'), { recursive: true })
    writeFileSync(join(hls, 'lunar_otter.m3u8'), '')
    expect(worst(await doctor(['--data', folder, '--hls-folder', hls]), 'stream keys')).toEqual([])
    writeFileSync(join(hls, 'live', `live_1000_${'a'.repeat(30)}.m3u8`), '')
    const [found] = worst(await doctor(['--data', folder, '--hls-folder', hls]), 'stream keys')
    expect(found).toMatchObject({ level: 'problem', message: expect.stringContaining('in 1 of the names') })
    expect(JSON.stringify(found)).not.toContain('live_1000')
    const [missing] = worst(
      await doctor(['--data', folder, '--hls-folder', join(hls, 'none')]),
      'stream keys',
    )
    expect(missing?.message).toContain('cannot read')
  })

  test('notes strict mode, which is no problem', async () => {
    const folder = copy()
    expect(worst(await doctor(['--data', folder]), 'strict mode')).toEqual([])
    const [found] = worst(await doctor(['--data', folder], { STRAND_STRICT: '1' }), 'strict mode')
    expect(found).toMatchObject({ level: 'note', message: expect.stringContaining('strict mode is on') })
  })

  test('prints lines for people, an exit code and a summary', async () => {
    const folder = copy()
    const listen = await freeListener([])
    const good = await runStrand(['doctor', '--data', folder, ...listen])
    expect(good).toMatchObject({ code: 0, stderr: '' })
    expect(good.stdout).toMatch(/^ok {7}store: /m)
    chmodSync(join(folder, 'operator-token'), 0o644)
    const bad = await runStrand(['doctor', '--data', folder, ...listen])
    expect(bad).toMatchObject({ code: 1, stderr: 'strand: 1 problem found\n' })
    expect(bad.stdout).toContain(`         -> chmod 600 ${join(folder, 'operator-token')}\n`)
  })

  test('sees modes', async () => {
    const folder = copy()
    chmodSync(join(folder, 'master-keys'), 0o640)
    chmodSync(folder, 0o755)
    expect(worst(await doctor(['--data', folder]), 'files').map(each => each.level)).toEqual([
      'warning',
      'problem',
    ])
  })

  test('sees a master key that is missing, and a file that is damaged', async () => {
    const folder = copy()
    writeFileSync(join(folder, 'master-keys'), `other:${Buffer.alloc(32, 1).toString('base64')}\n`, {
      mode: 0o600,
    })
    expect(worst(await doctor(['--data', folder]), 'key ring')).toMatchObject([{ level: 'problem' }])
    writeFileSync(join(folder, 'master-keys'), 'nonsense')
    expect(worst(await doctor(['--data', folder]), 'key ring')[0]?.message).toContain('damaged')
    rmSync(join(folder, 'master-keys'))
    expect(worst(await doctor(['--data', folder]), 'key ring')).toMatchObject([{ level: 'problem' }])
  })

  test('sees pages that were overwritten, and a store that is none', async () => {
    const folder = copy()
    const file = await open(join(folder, 'strand.db'), 'r+')
    await file.write(Buffer.alloc(4096, 0xff), 0, 4096, 4096 * 3)
    await file.close()
    expect(worst(await doctor(['--data', folder]), 'store')).toMatchObject([{ level: 'problem' }])
    writeFileSync(join(folder, 'strand.db'), 'no store at all, '.repeat(500), { mode: 0o600 })
    expect(worst(await doctor(['--data', folder]), 'store')).toMatchObject([{ level: 'problem' }])
  })

  test('sees a clock that is behind what was written', async () => {
    const folder = copy()
    const store = new Database(join(folder, 'strand.db'))
    store.run("update schema_versions set applied_at = '2199-01-01T00:00:00.000Z' where version = 1")
    store.close()
    expect(worst(await doctor(['--data', folder]), 'clock')).toMatchObject([{ level: 'problem' }])
  })

  test('sees a migration that was edited after it had been applied', async () => {
    const folder = copy()
    const store = new Database(join(folder, 'strand.db'))
    store.run("update schema_versions set checksum = 'of another text' where version = 1")
    store.close()
    const [finding] = worst(await doctor(['--data', folder]), 'schema')
    expect(finding).toMatchObject({ level: 'problem' })
    expect(finding?.message).toContain('migration 1')
    const { code, stderr } = await runStrand(['migrate', '--data', folder])
    expect(code).toBe(1)
    expect(stderr).toContain('migration 1 was applied to the store with another text')
  })

  test('sees what was left behind', async () => {
    const folder = copy()
    mkdirSync(join(folder, '.restoring'))
    writeFileSync(join(folder, 'master-keys.changing'), '')
    expect(worst(await doctor(['--data', folder]), 'leftovers')).toHaveLength(2)
  })

  test.skipIf(!canMount())('sees a disk that is nearly full', async () => {
    const folder = mountSmallDisk()
    try {
      cpSync(healthy, folder, { recursive: true })
      expect(worst(await doctor(['--data', folder]), 'disk space')).toMatchObject([{ level: 'problem' }])
      const backup = await runStrand(['backup', join(folder, 'b.tar'), '--data', healthy, '--unsealed'])
      expect(backup.code).toBe(0)
      const { bavail, bsize } = statfsSync(folder)
      writeFileSync(join(folder, 'filling'), Buffer.alloc(bavail * bsize - 100_000))
      const refused = await runStrand(['backup', join(folder, 'c.tar'), '--data', healthy, '--unsealed'])
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain('free')
    } finally {
      Bun.spawnSync(['umount', folder])
    }
  })

  test('names the setting that was meant, and everything else that is wrong with them', async () => {
    const findings = await doctor([], { STRAND_LISTN: 'localhost:1', STRAND_LOG: 'loud' })
    expect(findings.map(each => [each.about, each.level])).toEqual([
      ['settings', 'problem'],
      ['settings', 'problem'],
    ])
    expect(findings.map(each => each.message).join('\n')).toContain('did you mean STRAND_LISTEN?')
  })

  test('sees who can reach what', async () => {
    const words = ['--data', copy()]
    const reachable = await doctor(words, {
      STRAND_LISTEN: '0.0.0.0:8080',
      STRAND_OPERATOR_LISTEN: '0.0.0.0:8081',
      STRAND_PUBLIC_URL: 'http://api.example.org',
    })
    expect(worst(reachable, 'listeners')).toMatchObject([{ level: 'warning' }])
    expect(worst(reachable, 'public URL')).toMatchObject([{ level: 'warning' }])
  })

  test('sees that nothing answers', async () => {
    const port = await freePort()
    const DATABASE_URL = `postgres://strand:hush-hush@127.0.0.1:${port}/strand`
    const findings = await doctor(['--data', copy()], { DATABASE_URL })
    expect(worst(findings, `PostgreSQL at 127.0.0.1:${port}`)).toMatchObject([{ level: 'problem' }])
    expect(worst(findings, 'store')).toMatchObject([{ level: 'problem' }])
    expect(JSON.stringify(findings)).not.toContain('hush-hush')
    const elsewhere = await doctor(['--data', copy(), '--url', `http://127.0.0.1:${port}`])
    expect(worst(elsewhere, 'clock')).toMatchObject([{ level: 'problem' }])
  })

  test.skipIf(!engines.includes('postgres'))('looks at PostgreSQL, and changes nothing there', async () => {
    const place = await createStorePlace('postgres', { empty: true })
    const environment = { DATABASE_URL: place.databaseUrl as string }
    try {
      const words = ['--data', place.folder]
      expect(worst(await doctor(words, environment), 'schema')).toMatchObject([{ level: 'note' }])
      const client = new SQL(environment.DATABASE_URL, { max: 1 })
      const [{ tables }] = await client.unsafe(
        "select count(*)::int as tables from information_schema.tables where table_schema = 'public'",
      )
      expect(tables).toBe(0)
      const strand = await Installation.start(place.folder, environment)
      await makeSmallWorld(strand, 1)
      const findings = await doctor(words, environment)
      // The server of the tests runs without fsync, and that is what the doctor sees.
      const problems = findings.filter(each => each.level === 'problem').map(each => each.message)
      expect(problems).toEqual(['fsync is off: a power failure can destroy the database'])
      expect(findings.find(each => each.about === 'key ring')?.level).toBe('ok')
      expect(findings.find(each => each.about === 'clock')?.level).toBe('ok')
      await client.unsafe(
        `insert into extra_stream_keys (user_id, name, key_id, sealed, lookup_hash, created_at)
         select user_id, 'guest', 'gone', sealed, 'copied', 'now' from stream_keys limit 1`,
      )
      expect(worst(await doctor(words, environment), 'key ring')).toMatchObject([{ level: 'problem' }])
      await client.unsafe('delete from extra_stream_keys')
      expect(worst(await doctor(words, environment), 'key ring')).toEqual([])
      expect(worst(await doctor(words, environment), 'users')).toEqual([])
      await client.unsafe("update users set login = 'studio' where id = (select min(id) from users)")
      expect(worst(await doctor(words, environment), 'users')).toMatchObject([{ level: 'warning' }])
      await client.unsafe("update stream_keys set key_id = 'gone'")
      expect(worst(await doctor(words, environment), 'key ring')).toMatchObject([{ level: 'problem' }])
      await client.close()
    } finally {
      await endAllProcesses()
      await place.remove()
    }
  })
})

describe('strand config', () => {
  test('shows what is in effect, where it comes from, and no secret', async () => {
    const file = join(scratch, 'settings.env')
    writeFileSync(file, 'STRAND_LOG=warn\nSTRAND_RATE_APP=5\n')
    const secret = 'a-secret-that-is-long-enough'
    const { code, stdout } = await runStrand(['config', '--json', '--config', file, '--data', 'elsewhere'], {
      STRAND_RATE_APP: '6',
      STRAND_OPERATOR_TOKEN: secret,
      STRAND_MASTER_KEYS: `k:${Buffer.alloc(32, 9).toString('base64')}`,
      DATABASE_URL: `postgres://strand:${secret}@db/strand?password=${secret}`,
    })
    expect(code).toBe(0)
    const settings: { name: string; value: string | null; from: string }[] = JSON.parse(stdout).settings
    const of = (name: string) =>
      settings.filter(each => each.name === name).map(({ value, from }) => [value, from])
    expect(of('STRAND_LOG')).toEqual([['warn', 'file']])
    expect(of('STRAND_RATE_APP')).toEqual([['6', 'environment']])
    expect(of('STRAND_DATA')).toEqual([['elsewhere', 'flag']])
    expect(of('STRAND_LISTEN')).toEqual([['localhost:8080', 'default']])
    expect(of('STRAND_WORKERS')).toEqual([['1', 'default']])
    expect(of('STRAND_PUBLIC_URL')).toEqual([[null, 'default']])
    expect(of('STRAND_OPERATOR_TOKEN')).toEqual([['(set, not shown)', 'environment']])
    expect(of('DATABASE_URL')).toEqual([['postgres://strand:***@db/strand?password=***', 'environment']])
    expect(stdout).not.toContain(secret)
    expect(stdout).not.toContain(Buffer.alloc(32, 9).toString('base64'))
  })

  test('is a table for people; wrong settings are reported as ever', async () => {
    const { code, stdout } = await runStrand(['config'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^STRAND_LISTEN +default +localhost:8080$/m)
    expect(await runStrand(['config'], { STRAND_LOGG: 'x' })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'strand: unknown setting STRAND_LOGG: did you mean STRAND_LOG?\n',
    })
  })
})
