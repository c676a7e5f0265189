import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { OperatorError } from '../../src/kit/operator-error.ts'
import { ArchiveWriter } from '../../src/maintenance/archive.ts'
import {
  CHECKSUM_FILE,
  formatChecksums,
  MANIFEST_FILE,
  type Manifest,
} from '../../src/maintenance/manifest.ts'
import { Passphrase } from '../../src/maintenance/passphrase.ts'
import { unpackBackup } from '../../src/maintenance/unpack.ts'
import { copyStoreFile } from '../../src/store/embedded-file.ts'
import { ResidentStrand } from '../cli/resident-strand.ts'
import { type Environment, endAllProcesses, STRAND, StrandProcess } from '../support/cli/strand-process.ts'
import { runs } from '../support/properties.ts'
import { scrape } from '../support/server/scrape.ts'
import { Installation, makeSmallWorld, runStrand } from './installation.ts'

const scratch = mkdtempSync(join(tmpdir(), 'strand-backup-'))
const data = join(scratch, 'data')
const backup = join(scratch, 'backup.tar')
let paths = 0
const fresh = (name: string) => join(scratch, `${++paths}-${name}`)

const strands = new ResidentStrand()
const shell = strands.shellIn(scratch)
/** Runs `strand` with these words in the process that stays. */
const run = (words: readonly string[], environment: Environment = {}) => shell.runWords(words, environment)

beforeAll(async () => {
  const strand = await Installation.start(data)
  await makeSmallWorld(strand, 2)
  await strand.process.end('SIGTERM')
  const made = await runStrand(['backup', backup, '--data', data, '--unsealed'])
  if (made.code !== 0) throw new Error(made.stderr)
})
afterEach(endAllProcesses)
afterAll(async () => {
  await strands.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** One sentence on standard error, exit code 1. */
function expectRefusal(result: { code: number; stdout: string; stderr: string }, ...words: string[]): void {
  expect(result.stderr).toMatch(/^strand: [^\n]+\n$/)
  for (const word of words) expect(result.stderr).toContain(word)
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 1, stdout: '' })
}

async function unpack(file: string): Promise<Manifest> {
  const folder = fresh('unpacked')
  try {
    return await unpackBackup({
      file,
      folder,
      passphrase: async () => undefined,
      mayLeaveSealed: true,
      onProgress: () => undefined,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A backup like the one that was made, but for its manifest. */
async function forged(changes: Partial<Manifest>): Promise<string> {
  const unpacked = fresh('forging')
  const options = {
    folder: unpacked,
    passphrase: async () => undefined,
    mayLeaveSealed: false,
    onProgress: () => undefined,
  }
  const manifest = await unpackBackup({ ...options, file: backup })
  const path = fresh('forged.tar')
  const file = await open(path, 'wx')
  const archive = new ArchiveWriter(file, Date.parse(manifest.created_at))
  for (const { name } of manifest.files) await archive.addFile(name, join(unpacked, name), () => undefined)
  await archive.add(MANIFEST_FILE, JSON.stringify({ ...manifest, files: archive.written, ...changes }))
  await archive.add(CHECKSUM_FILE, formatChecksums(archive.written))
  await archive.end()
  await file.close()
  return path
}

test('the metrics of the server show when the last backup was made, also one beside a running server', async () => {
  const folder = fresh('noted')
  const strand = await Installation.start(folder)
  const name = 'strand_backup_last_success_timestamp_seconds'
  const noted = async (installation: Installation) =>
    (await scrape(installation.url)).series.get(name) ?? Number.NaN
  expect(await noted(strand)).toBeNaN()
  const before = Date.now() / 1000
  const made = await runStrand(['backup', fresh('noted.tar'), '--data', folder, '--unsealed'])
  expect([made.code, made.stderr]).toEqual([0, ''])
  await strand.process.end('SIGTERM')
  const again = await Installation.start(folder)
  const at = await noted(again)
  expect(at).toBeGreaterThanOrEqual(Math.floor(before))
  expect(at).toBeLessThanOrEqual(Date.now() / 1000)
  await again.process.end('SIGTERM')
})

describe('a backup that is not what was written', () => {
  test('property: a flipped byte is found, wherever it is', async () => {
    const whole = readFileSync(backup)
    const edges = [0, 100, 124, 148, 257, 511, 512, whole.length - 1, whole.length - 1025]
    const altered = fresh('altered.tar')
    expect((await unpack(backup)).format).toBe(1)
    const flip = async (at: number, bit: number) => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] as number) ^ (1 << bit)
      writeFileSync(altered, bytes)
      await expect(unpack(altered)).rejects.toThrow(OperatorError)
    }
    for (const at of edges) await flip(at, 0)
    // The small files at the end and their heads are few bytes among many: half of the flips are there.
    const place = fc.oneof(
      fc.nat(whole.length - 1),
      fc.integer({ min: whole.length - 6000, max: whole.length - 1 }),
    )
    await fc.assert(fc.asyncProperty(place, fc.nat(7), flip), { numRuns: runs(300) })
  }, 60_000)

  test('property: one that was cut off, or has something behind its end, is found', async () => {
    const whole = readFileSync(backup)
    const altered = fresh('cut.tar')
    const lengths = fc.nat(whole.length - 1)
    await fc.assert(
      fc.asyncProperty(lengths, async length => {
        copyFileSync(backup, altered)
        truncateSync(altered, length)
        await expect(unpack(altered)).rejects.toThrow(OperatorError)
      }),
      { numRuns: runs(60) },
    )
    for (const more of [1, 512, 1024]) {
      writeFileSync(altered, Buffer.concat([whole, Buffer.alloc(more)]))
      await expect(unpack(altered)).rejects.toThrow(OperatorError)
    }
  }, 60_000)

  test('restore refuses it in one sentence and leaves the folder empty', async () => {
    const bytes = readFileSync(backup)
    const middle = Math.floor(bytes.length / 2)
    bytes[middle] = (bytes[middle] as number) ^ 1
    const altered = fresh('altered.tar')
    writeFileSync(altered, bytes)
    const folder = fresh('restored')
    expectRefusal(await run(['restore', altered, '--data', folder]), altered, 'strand.db was altered')
    expect(readdirSync(folder)).toEqual([])
    expectRefusal(await run(['verify', altered]), 'strand.db was altered')
    expectRefusal(await run(['verify', fresh('nothing.tar')]), 'cannot be read')
    writeFileSync(altered, 'not a tar at all')
    expectRefusal(await run(['restore', altered, '--data', folder]), 'not a valid backup')
  })

  test('one of a newer program is refused', async () => {
    const newerSchema = await forged({ schema_version: 999 })
    expectRefusal(await run(['restore', newerSchema, '--data', fresh('x')]), 'schema 999', 'newer version')
    const newerFormat = await forged({ format: 2 })
    expectRefusal(await run(['restore', newerFormat, '--data', fresh('x')]), 'newer format 2')
  })
})

describe('strand backup', () => {
  test('is a tar that others can read, with checksums that others can check', async () => {
    const folder = fresh('by-hand')
    mkdirSync(folder)
    const untar = Bun.spawnSync(['tar', '-xf', backup, '-C', folder])
    expect(untar.exitCode).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(
      ['strand.db', 'master-keys', 'operator-token', MANIFEST_FILE, CHECKSUM_FILE].sort(),
    )
    expect(Bun.spawnSync(['sha256sum', '--check', '--strict', CHECKSUM_FILE], { cwd: folder }).exitCode).toBe(
      0,
    )
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'))
    expect(manifest.rows).toMatchObject({ users: 2, stream_keys: 2, streams: 2 })
    expect(manifest.master_keys).toEqual({
      included: true,
      needed: [readFileSync(join(data, 'master-keys'), 'utf8').split(':')[0] as string],
    })
  })

  test('does not replace a file without --yes', async () => {
    const file = fresh('there.tar')
    writeFileSync(file, 'something dear')
    const refused = await run(['backup', file, '--data', data, '--unsealed'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('--yes')
    expect(readFileSync(file, 'utf8')).toBe('something dear')
    expect(await run(['backup', file, '--data', data, '--yes', '--unsealed'])).toMatchObject({
      code: 0,
    })
    expect(await run(['verify', file])).toMatchObject({ code: 0 })
  })

  test('leaves nothing that looks whole when it is interrupted', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      // The file may be in place before the signal arrives; then it is whole, and the signal is tried again.
      for (let interrupted = false; !interrupted; ) {
        const folder = fresh('interrupted')
        mkdirSync(folder)
        const file = join(folder, 'backup.tar')
        const strand = new StrandProcess(['backup', file, '--data', data, '--unsealed'])
        await strand.until(() => readdirSync(folder).length > 0)
        const code = await strand.end(signal)
        interrupted = !existsSync(file)
        if (interrupted) expect(code).not.toBe(0)
        else expect(await run(['verify', file])).toMatchObject({ code: 0 })
        if (signal === 'SIGTERM') expect(readdirSync(folder)).toEqual(interrupted ? [] : ['backup.tar'])
      }
    }
  })

  test('states what to do where there is nothing to back up', async () => {
    expectRefusal(await run(['backup', fresh('b.tar'), '--data', fresh('empty')]), '--data')
    expectRefusal(
      await run(['backup', fresh('b.tar')], { DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none' }),
      'pg_dump',
    )
    expectRefusal(await run(['backup', join(fresh('no-folder'), 'b.tar'), '--data', data]), 'no folder')
  })

  test('without the master keys where a setting gives them, and names those that are needed', async () => {
    const folder = fresh('given-keys')
    const environment = { STRAND_MASTER_KEYS: `given:${Buffer.alloc(32, 7).toString('base64')}` }
    const strand = await Installation.start(folder, environment)
    await makeSmallWorld(strand, 1)
    const file = fresh('given.tar')
    const made = await run(['backup', file, '--data', folder, '--json', '--unsealed'], environment)
    expect(JSON.parse(made.stdout)).toMatchObject({ master_keys: { included: false, needed: ['given'] } })
    expect(Buffer.from(readFileSync(file)).includes(Buffer.alloc(32, 7).toString('base64'))).toBe(false)
    const without = await run(['verify', file])
    expect(without.code).toBe(0)
    expect(without.stdout).toContain('not checked')
    expect((await run(['verify', file], environment)).stdout).toContain('1 stream key tried')
    const restored = await run(['restore', file, '--data', fresh('r')])
    expect(restored.stdout).toContain('set STRAND_MASTER_KEYS with given')
  })
})

describe('the secrets in a backup', () => {
  const PASSPHRASE = 'correct horse battery'
  const secretsOf = () =>
    ['master-keys', 'operator-token'].map(name => readFileSync(join(data, name), 'utf8').trim())
  const holdsSecret = (file: string) => secretsOf().some(secret => readFileSync(file).includes(secret))

  test('are not written unsealed unless a flag allows it; without a terminal there is no prompt', async () => {
    const folder = fresh('nothing')
    mkdirSync(folder)
    const file = join(folder, 'b.tar')
    const { code, stdout, stderr } = await run(['backup', file, '--data', data])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^strand: [^\n]+--passphrase-file[^\n]+STRAND_BACKUP_PASSPHRASE[^\n]+--unsealed\n$/,
    )
    expect(readdirSync(folder)).toEqual([])
    const both = ['--unsealed', '--passphrase-file', 'p']
    expect(await run(['backup', file, '--data', data, ...both])).toMatchObject({ code: 2 })
    const unsealed = await run(['backup', file, '--data', data, '--unsealed'])
    expect(unsealed).toMatchObject({ code: 0, stdout: expect.stringContaining('NOT sealed') })
    expect(holdsSecret(file)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('are sealed and opened with the passphrase of the setting', async () => {
    const file = fresh('sealed-by-setting.tar')
    const environment = { STRAND_BACKUP_PASSPHRASE: PASSPHRASE }
    expect(await run(['backup', file, '--data', data], environment)).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(holdsSecret(file)).toBe(false)
    expect((await run(['verify', file])).stdout).toContain('not checked')
    expect((await run(['verify', file], environment)).stdout).toContain('2 stream keys tried')
    const folder = fresh('restored')
    expect(await run(['restore', file, '--data', folder], environment)).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'master-keys'), 'utf8').trim()).toBe(secretsOf()[0] as string)
    const shown = await run(['config'], environment)
    expect([shown.code, shown.stdout.includes(PASSPHRASE)]).toEqual([0, false])
    const short = { STRAND_BACKUP_PASSPHRASE: 'short' }
    expectRefusal(
      await run(['backup', file, '--data', data], short),
      'invalid STRAND_BACKUP_PASSPHRASE: must be',
    )
  })

  test('are asked about at a terminal: twice to seal, once to open', async () => {
    const file = fresh('typed.tar')
    const seal = (...typed: string[]) => typeAt(['backup', file, '--data', data], typed)
    expect((await seal(PASSPHRASE, 'another one')).shown).toContain('the two passphrases differ')
    expect(existsSync(file)).toBe(false)
    const made = await seal(PASSPHRASE, PASSPHRASE)
    expect([made.code, made.shown.includes(PASSPHRASE)]).toEqual([0, false])
    expect(holdsSecret(file)).toBe(false)
    const folder = fresh('typed')
    expect((await typeAt(['restore', file, '--data', folder], ['wrong passphrase'])).shown).toContain(
      'cannot open',
    )
    expect((await typeAt(['restore', file, '--data', folder], [PASSPHRASE])).code).toBe(0)
  })

  test('are none where settings give both of them, and no flag is needed then', async () => {
    const folder = fresh('no-secrets')
    const environment = {
      STRAND_MASTER_KEYS: `given:${Buffer.alloc(32, 7).toString('base64')}`,
      STRAND_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
    }
    expect(await run(['migrate', '--data', folder], environment)).toMatchObject({ code: 0 })
    const file = fresh('no-secrets.tar')
    expect(await run(['backup', file, '--data', folder], environment)).toMatchObject({ code: 0 })
  })

  /** Runs `strand` at a terminal, where each question is answered with the next line. */
  async function typeAt(words: readonly string[], lines: readonly string[]) {
    let shown = ''
    const left = [...lines]
    const decoder = new TextDecoder()
    const child = Bun.spawn([...STRAND, ...words], {
      env: { ...process.env, NO_COLOR: '1' },
      terminal: {
        data(terminal, bytes) {
          const text = decoder.decode(bytes)
          shown += text
          if (/(Passphrase|Repeat it)[^\n]*: $/.test(text)) terminal.write(`${left.shift() ?? ''}\r`)
        },
      },
    })
    const code = await child.exited
    child.terminal?.close()
    return { code, shown }
  }
})

describe('a passphrase', () => {
  test('seals both secrets; without it, or with another, nothing is restored', async () => {
    const right = fresh('right')
    const wrong = fresh('wrong')
    writeFileSync(right, 'correct horse battery\n')
    writeFileSync(wrong, 'incorrect horse\n')
    const file = fresh('sealed.tar')
    const made = await run(['backup', file, '--data', data, '--passphrase-file', right])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    for (const name of ['master-keys', 'operator-token']) {
      const secret = readFileSync(join(data, name), 'utf8').trim()
      expect(readFileSync(file).includes(secret)).toBe(false)
    }
    const folder = fresh('restored')
    const restore = (...words: string[]) => run(['restore', file, '--data', folder, ...words])
    expectRefusal(await restore(), '--passphrase-file')
    expectRefusal(await restore('--passphrase-file', wrong), 'cannot open')
    expectRefusal(await restore('--passphrase-file', fresh('missing')), 'cannot read --passphrase-file')
    expect(readdirSync(folder)).toEqual([])
    expect(await restore('--passphrase-file', right)).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'master-keys'), 'utf8')).toBe(
      readFileSync(join(data, 'master-keys'), 'utf8'),
    )
  })

  test('binds a secret to its name', () => {
    const sealed = new Passphrase('passphrase').seal('secret', 'master-keys')
    const same = new Passphrase('passphrase')
    expect(same.open(sealed, 'master-keys')).toBe('secret')
    expect(same.open(sealed, 'operator-token')).toBeUndefined()
    expect(new Passphrase('passphrase ').open(sealed, 'master-keys')).toBeUndefined()
    expect(same.open('', 'master-keys')).toBeUndefined()
  })
})

describe('strand restore', () => {
  test('refuses a folder that a server uses, with --yes too', async () => {
    const folder = fresh('used')
    const strand = await Installation.start(folder)
    expectRefusal(await run(['restore', backup, '--data', folder, '--yes']), folder, 'stop it first')
    expect((await strand.control('GET', '/users')).data).toEqual([])
  })

  test('puts aside what is there, with --yes only, even if that is damaged', async () => {
    const folder = fresh('full')
    mkdirSync(folder)
    writeFileSync(join(folder, 'strand.db'), 'damaged')
    writeFileSync(join(folder, 'master-keys'), 'old keys')
    expect(await run(['restore', backup, '--data', folder])).toMatchObject({ code: 2 })
    expect(readdirSync(folder).sort()).toEqual(['master-keys', 'strand.db'])
    const restored = await run(['restore', backup, '--data', folder, '--yes', '--json'])
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    const { replaced } = JSON.parse(restored.stdout)
    expect(readFileSync(join(replaced, 'strand.db'), 'utf8')).toBe('damaged')
    expect(readFileSync(join(replaced, 'master-keys'), 'utf8')).toBe('old keys')
    expect(await run(['verify', '--data', folder])).toMatchObject({ code: 0 })
  })

  test('leaves no master key behind when it is interrupted', async () => {
    // It may be faster than the signal; then it is tried again.
    for (let code = 0; code === 0; ) {
      const folder = fresh('interrupted')
      const strand = new StrandProcess(['restore', backup, '--data', folder])
      await strand.until(() => existsSync(folder) && readdirSync(folder).length > 0)
      code = await strand.end('SIGTERM')
      if (code !== 0) expect(readdirSync(folder)).toEqual([])
    }
  })

  test('that was decided and cut off is finished by the next start', async () => {
    const folder = fresh('cut-off')
    expect(await run(['restore', backup, '--data', join(folder, '.restored')])).toMatchObject({
      code: 0,
    })
    writeFileSync(join(folder, 'strand.db'), 'the old store')
    const strand = await Installation.start(folder)
    expect((await strand.control('GET', '/users')).data).toHaveLength(2)
    const [aside = ''] = readdirSync(folder).filter(name => name.startsWith('before-restore-'))
    expect(readFileSync(join(folder, aside, 'strand.db'), 'utf8')).toBe('the old store')
    expect(existsSync(join(folder, '.restored'))).toBe(false)
  })
})

test('the copy of a store is for its owner alone from the first moment', async () => {
  const copy = fresh('copy.db')
  const folder = fresh('to-copy')
  await run(['restore', backup, '--data', folder])
  const modes = new Set<number>()
  const looking = setInterval(() => existsSync(copy) && modes.add(statSync(copy).mode & 0o777), 1)
  await copyStoreFile(join(folder, 'strand.db'), copy, () => undefined)
  clearInterval(looking)
  modes.add(statSync(copy).mode & 0o777)
  expect([...modes]).toEqual([0o600])
})

describe('strand verify of a store', () => {
  const whole = fresh('whole')
  beforeAll(async () => {
    expect(await run(['restore', backup, '--data', whole])).toMatchObject({ code: 0 })
  })
  const damagedBy = (harm: (store: Database) => void): string => {
    const folder = fresh('harmed')
    cpSync(whole, folder, { recursive: true })
    const store = new Database(join(folder, 'strand.db'))
    store.run('pragma foreign_keys = off')
    harm(store)
    store.close()
    return folder
  }

  test('finds something where --json is wished too, of a store and of a backup', async () => {
    const altered = fresh('altered.tar')
    copyFileSync(backup, altered)
    truncateSync(altered, 1000)
    const bad = await run(['verify', altered, '--json'])
    expect([bad.code, JSON.parse(bad.stdout)]).toEqual([
      1,
      {
        what: altered,
        problems: [expect.stringContaining('not a valid backup')],
        notes: [],
        stream_keys: 0,
        rows: 0,
      },
    ])
    const refused = await run(['restore', altered, '--data', fresh('refused'), '--json'])
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { problems: [expect.any(String)] }])
    const good = await run(['verify', backup, '--json'])
    expect(JSON.parse(good.stdout)).toMatchObject({ what: backup, problems: [], stream_keys: 2 })
  })

  test('finds a reference to nothing', async () => {
    const folder = damagedBy(store => store.run("delete from users where id = '1001'"))
    expectRefusal(await run(['verify', '--data', folder]), 'refers to a missing row of users')
  })

  test('finds a row of the audit log that was altered', async () => {
    const folder = damagedBy(store => store.run("update audit set actor = 'other' where seq = 2"))
    expectRefusal(await run(['verify', '--data', folder]), 'the audit log is broken at row 2')
  })

  test('finds a stream key that was altered, copied or cannot be looked up', async () => {
    for (const harm of [
      "update stream_keys set sealed = 'AAAA' || substr(sealed, 5) where user_id = '1001'",
      "update stream_keys set sealed = (select sealed from stream_keys where user_id = '1002') where user_id = '1001'",
      "update stream_keys set lookup_hash = 'nothing' where user_id = '1001'",
    ]) {
      const folder = damagedBy(store => store.run(harm))
      expectRefusal(await run(['verify', '--data', folder]), '1 stream key cannot be opened', '1001')
    }
  })

  test('finds follow counts that differ from the follows', async () => {
    const folder = damagedBy(store => {
      store.run(
        "insert into follows (user_id, broadcaster_id, followed_at) values ('1001', '1002', '2026-01-01T00:00:00Z')",
      )
    })
    expect((await run(['verify', '--data', folder])).code).toBe(0)
    for (const [harm, named] of [
      ["update follow_counts set followers = 7 where user_id = '1002'", '(users 1002)'],
      ["delete from follow_counts where user_id = '1001'", '(users 1001, 1002)'],
    ] as const) {
      const store = new Database(join(folder, 'strand.db'))
      store.run(harm)
      store.close()
      expectRefusal(await run(['verify', '--data', folder]), 'differ from the follows', named)
    }
  })

  test('finds a table that is missing', async () => {
    const folder = damagedBy(store => store.run('drop table follow_counts'))
    expectRefusal(await run(['verify', '--data', folder]), 'no such table: follow_counts')
  })

  test('finds a trigger that only has the name of one of a store', async () => {
    const folder = damagedBy(store => {
      store.run('drop trigger follow_removed')
      store.run('create trigger follow_removed after delete on follows begin delete from users; end')
    })
    expectRefusal(
      await run(['verify', '--data', folder]),
      'the trigger "follow_removed" is not part of a store',
    )
  })

  test('finds an extra stream key that does not open, or whose master key is missing', async () => {
    const copyOf = (key_id: string) =>
      `insert into extra_stream_keys (user_id, name, key_id, sealed, lookup_hash, created_at)
       select user_id, 'guest', ${key_id}, sealed, 'copied', '2026-03-01T12:00:00.250Z' from stream_keys
       where user_id = '1001'`
    const copied = damagedBy(store => store.run(copyOf('key_id')))
    expectRefusal(await run(['verify', '--data', copied]), '1 stream key cannot be opened', '1001')
    const foreign = damagedBy(store => store.run(copyOf("'gone'")))
    expectRefusal(await run(['verify', '--data', foreign]), '1 stream key is sealed', 'gone')
  })

  test('finds a master key that is missing', async () => {
    const folder = damagedBy(() => undefined)
    writeFileSync(join(folder, 'master-keys'), `other:${Buffer.alloc(32, 1).toString('base64')}\n`)
    expectRefusal(await run(['verify', '--data', folder]), '2 stream keys', 'not in the ring')
  })

  test('finds pages that were overwritten', async () => {
    const folder = damagedBy(() => undefined)
    const file = await open(join(folder, 'strand.db'), 'r+')
    await file.write(Buffer.alloc(4096, 0xff), 0, 4096, 4096 * 3)
    await file.close()
    expectRefusal(await run(['verify', '--data', folder]), 'the store is damaged')
  })
})
