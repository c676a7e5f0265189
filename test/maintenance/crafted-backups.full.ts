/**
 * Backups that are made to do harm. Each is refused in one sentence, by `verify` and by `restore`, in a separate
 * process whose memory and processor time are measured.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CHECKSUM_FILE,
  formatChecksums,
  MANIFEST_FILE,
  type Manifest,
} from '../../src/maintenance/manifest.ts'
import { Passphrase } from '../../src/maintenance/passphrase.ts'
import { SCHEMA_VERSION } from '../../src/store/embedded-file.ts'
import { measured } from '../support/cli/measured.ts'
import { STRAND } from '../support/cli/strand-process.ts'

const MAX_MEMORY = 200 * 1024 * 1024
const MAX_CPU_SECONDS = 2
const BLOCK = 512
const GIGABYTES = 3 * 1024 ** 3
const CREATED = '2026-03-01T12:00:00.000Z'

const scratch = mkdtempSync(join(tmpdir(), 'strand-crafted-'))
let paths = 0
const fresh = (name: string) => join(scratch, `${++paths}-${name}`)
let store: Buffer
/** What any run of the program costs. */
let usualCpu = 0

beforeAll(async () => {
  store = storeWith(() => undefined)
  usualCpu = (await strand(['version'])).cpuSeconds
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function storeWith(craft: (db: Database) => void): Buffer {
  const file = fresh('store.db')
  const db = new Database(file, { create: true })
  db.run('create table schema_versions (version integer primary key, applied_at text not null)')
  craft(db)
  db.close()
  return readFileSync(file)
}

interface Part {
  readonly name: string
  readonly bytes: Buffer
  /** What its header has instead of the truth. */
  readonly declared?: number | string
  /** How many bytes of nothing follow; they take no disk. */
  readonly hole?: number
}

const part = (name: string, bytes: Buffer | string): Part => ({ name, bytes: Buffer.from(bytes) })
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function header({ name, bytes, declared, hole = 0 }: Part): Buffer {
  const head = Buffer.alloc(BLOCK)
  const size = declared ?? bytes.length + hole
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  head.write(name, 0, 100, 'latin1')
  head.write(octal(0o600, 7) + octal(0, 7) + octal(0, 7), 100, 'latin1')
  if (typeof size === 'string') head.write(size, 124, 'latin1')
  else if (size > 8 ** 11 - 1) {
    head[124] = 0x80
    head.writeBigUInt64BE(BigInt(size), 128)
  } else head.write(octal(size, 11), 124, 'latin1')
  head.write(octal(Date.parse(CREATED) / 1000, 11), 136, 'latin1')
  head.write('        0', 148, 'latin1')
  head.write('ustar\x0000', 257, 'latin1')
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

/** Writes a tar of these parts, holes and all. */
function archiveOf(parts: readonly Part[]): string {
  const path = fresh('crafted.tar')
  const file = openSync(path, 'wx')
  let at = 0
  for (const each of parts) {
    writeSync(file, header(each), 0, BLOCK, at)
    writeSync(file, each.bytes, 0, each.bytes.length, at + BLOCK)
    at += BLOCK + Math.ceil((each.bytes.length + (each.hole ?? 0)) / BLOCK) * BLOCK
  }
  ftruncateSync(file, at + 2 * BLOCK)
  closeSync(file)
  return path
}

interface Crafted {
  readonly parts?: readonly Part[]
  /** Of the parts that the manifest lists, what it has about them instead. */
  readonly declares?: Readonly<Record<string, { size?: number; sha256?: string }>>
  readonly manifest?: Partial<Record<keyof Manifest, unknown>>
}

/** A backup that is right in every respect but those that are given. */
function craft({ parts = [part('strand.db', store)], declares = {}, manifest = {} }: Crafted): string {
  const files = parts.map(each => ({
    name: each.name,
    size: each.bytes.length + (each.hole ?? 0),
    sha256: sha256(each.bytes),
    ...declares[each.name],
  }))
  const described = JSON.stringify({
    format: 1,
    strand_version: '0.1.0',
    schema_version: SCHEMA_VERSION,
    created_at: CREATED,
    feed_seq: 0,
    secrets: 'plain',
    master_keys: { included: false, needed: [] },
    files,
    rows: {},
    ...manifest,
  })
  const entries = [...parts, part(MANIFEST_FILE, described)]
  const sums = formatChecksums([
    ...files,
    { name: MANIFEST_FILE, size: 0, sha256: sha256(Buffer.from(described)) },
  ])
  return archiveOf([...entries, part(CHECKSUM_FILE, sums)])
}

const strand = (words: readonly string[]) =>
  measured([...STRAND, ...words], {
    cwd: scratch,
    env: { ...process.env, TMPDIR: scratch },
  })

async function expectRefusal(file: string, ...words: string[]): Promise<void> {
  const folder = fresh('restored')
  for (const command of [
    ['verify', file],
    ['restore', file, '--data', folder],
  ]) {
    const { code, stderr, memory, cpuSeconds } = await strand(command)
    expect(stderr).toMatch(/^strand: [\x20-\x7e]+\n$/)
    for (const word of words) expect(stderr).toContain(word)
    expect([command[0], code]).toEqual([command[0], 1])
    expect(memory).toBeLessThan(MAX_MEMORY)
    expect(cpuSeconds - usualCpu).toBeLessThan(MAX_CPU_SECONDS)
  }
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
}

const master = (size: number) => part('master-keys', Buffer.alloc(size, 'k'))
const sparse = (name: string, start: Buffer | string = ''): Part => ({
  ...part(name, start),
  hole: GIGABYTES,
})

describe('refused before anything large is read', () => {
  test('the crafted backup is right, but for what each case changes', async () => {
    const { stderr } = await strand(['verify', craft({})])
    // The store in it has no tables but one: that is found last, when it is looked through.
    expect(stderr).toMatch(/^strand: .*: the store is damaged: no such table: \w+\n$/)
  })

  for (const name of ['master-keys', 'master-keys.sealed', 'operator-token', 'operator-token.sealed']) {
    test(`a sparse ${name} of 3 GB`, async () => {
      const manifest = { secrets: name.endsWith('sealed') ? 'sealed' : 'plain' }
      const parts = [part('strand.db', store), sparse(name)]
      await expectRefusal(craft({ parts, manifest, declares: { [name]: { size: 1 } } }))
      await expectRefusal(craft({ parts, manifest }))
    })
  }

  test('a sparse store of 3 GB that is none, and one whose head has another size', async () => {
    await expectRefusal(craft({ parts: [sparse('strand.db')] }), 'strand.db', 'not that of a store')
    await expectRefusal(craft({ parts: [sparse('strand.db', store)] }), 'strand.db', 'its header declares')
    const declares = { 'strand.db': { size: store.length } }
    await expectRefusal(craft({ parts: [sparse('strand.db', store)], declares }), 'strand.db was altered')
  })

  for (const name of [MANIFEST_FILE, CHECKSUM_FILE]) {
    test(`a sparse ${name} of 3 GB`, async () => {
      const others = [part('strand.db', store), part(MANIFEST_FILE, '{}'), part(CHECKSUM_FILE, '')]
      await expectRefusal(
        archiveOf(others.map(each => (each.name === name ? sparse(name) : each))),
        name,
        'the maximum',
      )
    })
  }

  for (const declared of [2 ** 40, 2 ** 53 - 1, 2 ** 62, '77777777777', '-7777777777', 'not octal']) {
    test(`an entry that declares ${declared} bytes`, async () => {
      await expectRefusal(archiveOf([{ ...part('master-keys', 'short'), declared }]), 'not a valid backup')
    })
  }

  test('names that are not those of a backup, or lead out of the folder', async () => {
    for (const name of [
      '../outside',
      '/etc/passwd',
      'a/b',
      '..',
      'x'.repeat(100),
      '\x1b[2Jname',
      'strand.db-wal',
    ]) {
      await expectRefusal(craft({ parts: [part('strand.db', store), part(name, 'x')] }), 'not a valid backup')
    }
    expect(readdirSync(scratch)).not.toContain('outside')
  })

  test('a name that is there twice', async () => {
    await expectRefusal(craft({ parts: [part('strand.db', store), part('strand.db', store)] }), 'twice')
  })

  test('a hundred thousand entries', async () => {
    const path = fresh('many.tar')
    const file = openSync(path, 'wx')
    const heads = Buffer.concat(Array.from({ length: 1000 }, (_, n) => header(part(`e${n}`, ''))))
    for (let n = 0; n < 100; n++) writeSync(file, heads)
    writeSync(file, Buffer.alloc(2 * BLOCK))
    closeSync(file)
    await expectRefusal(path, 'more than 8 files')
  })

  test('a file of zeros without an end, and one that was compressed', async () => {
    await expectRefusal('/dev/zero')
    const zipped = fresh('zipped.tar.gz')
    await Bun.write(zipped, Bun.gzipSync(Buffer.alloc(1e6)))
    await expectRefusal(zipped, 'not a valid backup')
  })
})

describe('rejected because of the manifest', () => {
  const cases: Readonly<Record<string, Crafted>> = {
    'a wrong checksum': { declares: { 'strand.db': { sha256: '0'.repeat(64) } } },
    'no checksum': { declares: { 'strand.db': { sha256: '' } } },
    'a size that is a text': { declares: { 'strand.db': { size: '8192' as unknown as number } } },
    'no store': { parts: [master(100)] },
    'characters that move the cursor of a terminal': { manifest: { strand_version: '\x1b]0;x\x07' } },
    'a version of a megabyte': { manifest: { strand_version: 'x'.repeat(200_000) } },
    'names of keys that are not names': { manifest: { master_keys: { included: true, needed: ['\n'] } } },
    'a million keys': { manifest: { master_keys: { included: true, needed: Array(20_000).fill('k') } } },
    'rows that are no counts': { manifest: { rows: { users: '\x1b[2J' } } },
    'a moment that is none': { manifest: { created_at: '+275760-09-13' } },
    'a list of files with nothing in it': { manifest: { files: [null] } },
  }
  for (const [title, crafted] of Object.entries(cases)) {
    test(title, () => expectRefusal(craft(crafted), 'not a valid backup'))
  }

  test('depth', async () => {
    const manifest = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const parts = [part('strand.db', store), part(MANIFEST_FILE, manifest), part(CHECKSUM_FILE, '')]
    await expectRefusal(archiveOf(parts), MANIFEST_FILE)
  })
})

describe('refused for what is in the store', () => {
  const cases: Readonly<Record<string, (db: Database) => void>> = {
    'a view that never ends': db =>
      db.run(
        'create view users as with recursive n(x) as (select 1 union all select x from n) select x from n',
      ),
    'a trigger': db =>
      db.run('create trigger t after insert on schema_versions begin delete from schema_versions; end'),
    'a virtual table': db => db.run('create virtual table users using fts5(login)'),
  }
  for (const [title, made] of Object.entries(cases)) {
    test(title, () =>
      expectRefusal(craft({ parts: [part('strand.db', storeWith(made))] }), 'is not part of a store'),
    )
  }
})

test('a sealed secret does not set what it costs to open: that is fixed', () => {
  const body = Buffer.alloc(100).toString('base64')
  for (const first of [
    'strand sealed secret 1: scrypt N=1073741824 r=8 p=1, AES-256-GCM; salt, nonce, text and tag in base64',
    'strand sealed secret 1: scrypt N=131072 r=64 p=16, AES-256-GCM; salt, nonce, text and tag in base64',
    '',
  ]) {
    const began = process.cpuUsage()
    expect(new Passphrase('passphrase').open(`${first}\n${body}\n`, 'master-keys')).toBeUndefined()
    // In microseconds: the first two would take minutes.
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
  }
})
