import { Database } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import type { ImportEvent } from '../../src/contract/control/transfer.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { systemClock } from '../../src/kit/time/clock.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { Import } from '../../src/transfer/import.ts'
import { openFile } from '../../src/transfer/spool.ts'
import {
  type Environment,
  endAllProcesses,
  ROOT,
  STRAND,
  StrandProcess,
} from '../support/cli/strand-process.ts'

const TOKEN = 'an-operator-token-for-this-test'
const folder = mkdtempSync(join(tmpdir(), 'strand-transfer-'))
const at = (name: string) => join(folder, name)
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function strand(words: readonly string[], environment: Environment = {}) {
  const child = new StrandProcess(words, { environment })
  return { code: await child.exit(), stdout: child.stdout, stderr: child.stderr }
}

/** With the words behind a shell's `<`. */
async function strandReading(file: string, words: readonly string[]) {
  const command = ['sh', '-c', 'exec "$0" "$@" < "$INPUT"', ...STRAND]
  const child = new StrandProcess(words, { command, environment: { INPUT: file } })
  return { code: await child.exit(), stdout: child.stdout, stderr: child.stderr }
}

/** A folder with an empty store. */
async function makeStore(name: string): Promise<string> {
  expect((await strand(['migrate', '--data', at(name)])).code).toBe(0)
  return at(name)
}

const ORGANIZATION = '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1'
const BENEFIT = '74c52265-e214-48a6-91b9-23b6014e8041'

/** A world with so many entitlements, written to a file. */
function writeWorld(name: string, entitlements: number): string {
  const random = new SeededRandom(11)
  const lines: object[] = [
    { type: 'organization', id: ORGANIZATION, name: 'Reef' },
    { type: 'user', id: '12', login: 'lunar_otter', created_at: '2026-01-01T00:00:00Z' },
    { type: 'game', id: '34', name: 'Tidefall', organization_id: ORGANIZATION },
    { type: 'benefit', id: BENEFIT, name: 'Lamp', organization_id: ORGANIZATION },
  ]
  for (let n = 0; n < entitlements; n++) {
    const timestamp = new Date(1_770_000_000_000 + n).toISOString()
    lines.push({
      type: 'entitlement',
      id: random.uuid(),
      user_id: '12',
      benefit_id: BENEFIT,
      game_id: '34',
      timestamp,
    })
  }
  writeFileSync(at(name), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  return at(name)
}

test('what is imported is exported, by standard streams and by files that only the owner may read', async () => {
  const world = writeWorld('small.ndjson', 30)
  const first = await strandReading(world, ['import', '-', '--data', await makeStore('one')])
  expect([first.code, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toMatch(
    /^Read 34 lines in [\d.]+ s \([\d,]+ lines\/s\), 0 skipped\.\n {2}organization {2}1 created/,
  )
  const shown = await strand(['export', '--data', at('one')])
  const toFile = ['export', '--data', at('one'), at('one.ndjson')]
  expect(await strand(toFile)).toEqual({ code: 0, stdout: `${at('one.ndjson')}: 35 lines\n`, stderr: '' })
  const unasked = await strand(toFile)
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('Confirm with --yes.')])
  const result = await strand([...toFile, '--yes', '--json'])
  expect(JSON.parse(result.stdout)).toEqual({ file: at('one.ndjson'), lines: 35 })
  expect(readFileSync(at('one.ndjson'), 'utf8')).toBe(shown.stdout)
  expect(statSync(at('one.ndjson')).mode & 0o777).toBe(0o600)

  const again = await strand(['import', at('one.ndjson'), '--data', await makeStore('two'), '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({
    lines: 35,
    skipped: 0,
    types: { entitlement: { created: 30 } },
  })
  expect((await strand(['export', '--data', at('two')])).stdout).toBe(shown.stdout)
  expect(readdirSync(at('one')).filter(name => name.includes('spool'))).toEqual([])
})

test('with a server elsewhere it is the same', async () => {
  const world = writeWorld('remote.ndjson', 50)
  const environment = { STRAND_OPERATOR_TOKEN: TOKEN }
  const server = await new StrandProcess(['serve', '--listen', '127.0.0.1:0', '--data', at('remote')], {
    environment,
  }).serving()
  const [, url = ''] = /"url":"([^"]+)"/.exec(server.stderr) ?? []
  writeFileSync(at('token'), `${TOKEN}\n`)
  const sent = await strand(['import', world, '--url', url, '--token-file', at('token')])
  expect([sent.code, sent.stderr]).toEqual([0, ''])
  expect(sent.stdout).toMatch(/^Read 54 lines .* 0 skipped/)
  const there = await strand(['export', '--url', url], environment)
  const unknown = await strand(['export', '--url', 'http://127.0.0.1:1'], environment)
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/^strand: .* cannot be reached: .*\n$/),
  ])
  expect((await strand(['export', '--data', at('remote')])).stdout).toBe(there.stdout)

  writeFileSync(at('bad.ndjson'), `${readFileSync(world, 'utf8')}{"type":"user"}\n`)
  const refused = await strand(['import', at('bad.ndjson'), '--url', url], environment)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toBe(
    `strand: ${url} returned 400: Line 55: the field "id" is missing. Nothing was changed.\n`,
  )
  const skipping = await strand(['import', at('bad.ndjson'), '--continue', '--url', url], environment)
  expect(skipping.code).toBe(1)
  expect(skipping.stderr).toContain('line 55: the field "id" is missing; skipped\n')
  await server.end('SIGTERM')
})

test('a line that is wrong is reported with file and number, and nothing is changed', async () => {
  writeFileSync(
    at('wrong.ndjson'),
    '{"type":"game","id":"1","name":"Kelp"}\n\n{"type":"game","id":"x","name":"Reef"}\n',
  )
  const data = await makeStore('wrong')
  const { code, stderr } = await strand(['import', at('wrong.ndjson'), '--data', data])
  expect(code).toBe(1)
  expect(stderr).toBe(
    `strand: ${at('wrong.ndjson')}, line 3: the field "id" was malformed: the value must be a decimal id of at most 19 digits without leading zeros; nothing was changed\n`,
  )
  expect((await strand(['export', '--data', at('wrong')])).stdout).toBe('')

  const going = await strand(['import', at('wrong.ndjson'), '--data', at('wrong'), '--continue'])
  expect(going.code).toBe(1)
  expect(going.stderr).toContain('line 3: the field "id" was malformed')
  expect(going.stderr).toEndWith('strand: skipped 1 invalid line\n')
  expect((await strand(['export', '--data', at('wrong')])).stdout).toContain('"Kelp"')
  const result = await strand(['import', at('wrong.ndjson'), '--data', at('wrong'), '--continue', '--json'])
  expect(JSON.parse(result.stdout)).toMatchObject({
    skipped: 1,
    skipped_lines: [{ line: 3, message: expect.stringContaining('the field "id" was malformed') }],
  })
})

test('into a folder that is new, which gets a store; not into one that holds something else', async () => {
  writeFileSync(at('kelp.ndjson'), '{"type":"user","id":"4711","login":"kelp"}\n')
  const made = await strand(['import', at('kelp.ndjson'), '--data', at('new/folder')])
  expect([made.code, made.stderr]).toEqual([0, ''])
  expect((await strand(['export', '--data', at('new/folder')])).stdout).toContain('"kelp"')
  mkdirSync(at('other'))
  writeFileSync(at('other/notes.txt'), 'not a store')
  const refused = await strand(['import', at('kelp.ndjson'), '--data', at('other')])
  expect([refused.code, readdirSync(at('other'))]).toEqual([1, ['notes.txt']])
  expect(refused.stderr).toContain('no store in')
})

test.each([
  [
    1,
    ['export', '--data', 'nowhere'],
    /^strand: no store in nowhere: give its folder with --data, or create one with strand migrate\n$/,
  ],
  [
    1,
    ['import', 'package.json', '--dry-run', '--data', 'nowhere'],
    /^strand: no store in nowhere: give its folder with --data, or create one with strand migrate\n$/,
  ],
  [
    1,
    ['import', 'package.json', '--url', 'http://127.0.0.1:1', '--token-file', 'nowhere'],
    /^strand: cannot read --token-file nowhere: .*\n$/,
  ],
  [
    1,
    ['export', '--url', 'http://127.0.0.1:1', '--token-file', 'package.json'],
    /^strand: invalid --token-file package\.json: must contain one token and nothing else\n$/,
  ],
  [2, ['import', 'package.json', '--token-file', 'package.json'], /^strand: --token-file requires --url\n$/],
  [2, ['export', '--token-file', 'package.json'], /^strand: --token-file requires --url\n$/],
  [
    2,
    ['import', 'package.json', '--url', 'http://127.0.0.1:1', '--data', 'nowhere'],
    /^strand: --url cannot be combined with --data or --database-url\n$/,
  ],
  [2, ['import'], /strand import requires <file>; see strand import --help/],
  [
    2,
    ['import', 'package.json', '--from-line', '0'],
    /^strand: invalid --from-line: must be between 1 and 999999999, not "0"\n$/,
  ],
  [2, ['export', '--url', 'http://127.0.0.1:1'], /^strand: --url requires the operator token: .*\n$/],
  [
    2,
    ['export', '--url', 'localhost', '--token-file', 'package.json'],
    /^strand: invalid --url: must be an http or https URL/,
  ],
  [
    2,
    ['export', '--with-secrets', '--url', 'http://localhost'],
    /^strand: --with-secrets cannot be combined with --url/,
  ],
])('exit code %i for %p', async (code, words, message) => {
  const ended = await strand(words)
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)])
  expect(existsSync(join(ROOT, 'nowhere'))).toBe(false)
})

test('a file that ends before the line to begin at, and one that is compressed, are reported', async () => {
  const data = await makeStore('odd')
  const world = writeWorld('odd.ndjson', 0)
  const late = await strand(['import', world, '--from-line', '99', '--data', data])
  expect([late.code, late.stderr]).toEqual([
    1,
    `strand: ${world}, line 99: there is no such line, the last is 4; nothing was changed\n`,
  ])
  writeFileSync(at('odd.ndjson.gz'), Bun.gzipSync(readFileSync(world)))
  const zipped = await strand(['import', at('odd.ndjson.gz'), '--data', data])
  expect([zipped.code, zipped.stderr]).toEqual([
    1,
    expect.stringContaining('line 1: it is not UTF-8 but a gzip'),
  ])
  const { seconds } = JSON.parse((await strand(['import', world, '--json', '--data', data])).stdout)
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).not.toBe(1)
})

test('an export that is interrupted leaves nothing behind', async () => {
  const data = await makeStore('interrupted')
  expect((await strand(['import', writeWorld('many.ndjson', 20_000), '--data', data])).code).toBe(0)
  // It may be faster than the signal; then it is tried again.
  for (let code = 0; code === 0; ) {
    const file = at('interrupted.ndjson')
    const child = new StrandProcess(['export', file, '--with-secrets', '--yes', '--data', data])
    await child.until(() => readdirSync(folder).some(name => name.endsWith('.unfinished')))
    code = await child.end('SIGTERM')
  }
  expect(readdirSync(folder).filter(name => name.endsWith('.unfinished'))).toEqual([])
})

test('an import that was killed in the middle and run again is an import', async () => {
  const world = writeWorld('large.ndjson', 30_000)
  expect((await strand(['import', world, '--data', await makeStore('whole')])).code).toBe(0)
  const whole = await strand(['export', '--data', at('whole')])

  const child = new StrandProcess(['import', world, '--data', await makeStore('killed')])
  await child.until(() => rowsIn(at('killed')) > 0)
  await child.end('SIGKILL')
  const there = rowsIn(at('killed'))
  expect(there).toBeGreaterThan(0)
  expect(there).toBeLessThan(30_000)

  const again = await strand(['import', world, '--data', at('killed'), '--json'])
  expect(JSON.parse(again.stdout).types.entitlement).toEqual({
    created: 30_000 - there,
    changed: 0,
    unchanged: there,
  })
  expect((await strand(['export', '--data', at('killed')])).stdout).toBe(whole.stdout)
})

function rowsIn(data: string): number {
  if (!existsSync(join(data, 'strand.db'))) return 0
  try {
    using db = new Database(join(data, 'strand.db'), { readonly: true })
    return (db.query('select count(*) as rows from organization_entitlements').get() as { rows: number }).rows
  } catch {
    return 0
  }
}

test.skipIf(Bun.which('script') === null)('progress is shown on a terminal, and only there', async () => {
  const world = writeWorld('shown.ndjson', 20_000)
  const words = [...STRAND, 'import', world, '--data', await makeStore('shown')]
  const typed = Bun.spawn(['script', '-qec', words.join(' '), '/dev/null'], {
    stdout: 'pipe',
    stdin: 'ignore',
  })
  const seen = await new Response(typed.stdout).text()
  expect(await typed.exited).toBe(0)
  expect(seen).toMatch(/Checking {2}\[#+\.*\] +\d+ % {2}\d+ of \d+ MB {2}\d+ MB\/s {2}\d+ s left/)
  expect(seen).toMatch(
    /Importing {2}\[#+\.*\] +\d+ % {2}[\d,]+ of 20,004 lines {2}[\d,]+ lines\/s {2}\d+ s left/,
  )
  expect((await strand(['import', world, '--data', at('shown')])).stderr).toBe('')
})

/**
 * Whether an import has begun to write entitlements, committed or not. It does not open the store: an import that finds it in
 * use does not take it for itself.
 */
const isWritten = (data: string) =>
  (statSync(join(data, 'strand.db-wal'), { throwIfNoEntry: false })?.size ?? 0) > 1_000_000

/** The definitions of the indexes of entitlements, and those that are noted as missing. */
function indexesIn(data: string): { indexes: unknown[]; missing: unknown[] } {
  const db = new Database(join(data, 'strand.db'), { readonly: true })
  try {
    const indexes = db
      .query(
        "select sql from sqlite_schema where type = 'index' and tbl_name = 'organization_entitlements' and sql is not null order by sql",
      )
      .values()
    const [fact] = db.query("select value from facts where name = 'indexes_set_aside'").values()
    return { indexes, missing: fact === undefined ? [] : JSON.parse(String(fact[0])) }
  } finally {
    db.close()
  }
}

/** Imports a file in this process, with some commands of the store replaced. */
async function importHere(
  world: string,
  data: string,
  commands: Partial<Store['commands']>,
  onEvent: (event: ImportEvent, running: Import, store: Store) => void | Promise<void>,
): Promise<Import> {
  const file = await openFile(world)
  const store = createStore(await openSqliteEngine(join(data, 'strand.db')))
  try {
    const services = {
      store: { ...store, commands: { ...store.commands, ...commands } },
      streamKeys: new StreamKeys(new KeyRing([{ id: 'first', bytes: new Uint8Array(32) }])),
      clock: systemClock,
      isAlone: true,
    }
    const running = new Import(file, { continues: false, dryRun: false, fromLine: 1 }, services)
    for await (const event of running.run()) await onEvent(event, running, store)
    return running
  } finally {
    await file.close()
    await store.close()
  }
}

test('a large import drops indexes and builds them; one that was killed leaves that to the next command', async () => {
  const world = writeWorld('huge.ndjson', 60_000)
  const before = indexesIn(await makeStore('aside'))
  expect(before.indexes.length).toBeGreaterThan(5)
  const complete = new StrandProcess(['import', world, '--data', at('aside')])
  await complete.until(() => isWritten(at('aside')))
  // Another process meanwhile reads correctly, and leaves the indexes to the import.
  expect((await strand(['entitlement', 'list', '--data', at('aside')])).code).toBe(0)
  expect(await complete.exit()).toBe(0)
  expect(indexesIn(at('aside'))).toEqual(before)
  const whole = await strand(['export', '--data', at('aside')])

  // As if it were killed when all rows are there, before it builds the first index.
  const half = await makeStore('half')
  // The stream key of the user is sealed with the key of the folder.
  expect((await strand(['import', writeWorld('empty.ndjson', 0), '--data', half])).code).toBe(0)
  const crash = () => Promise.reject(new Error('killed'))
  await expect(importHere(world, half, { restoreIndex: crash }, () => undefined)).rejects.toThrow('killed')
  expect(rowsIn(half)).toBe(60_000)
  const { indexes, missing } = indexesIn(half)
  expect(indexes.length).toBe(1)
  expect(missing.length).toBe(before.indexes.length - 1)

  expect((await strand(['user', 'list', '--data', half])).code).toBe(0)
  expect(indexesIn(half)).toEqual(before)
  expect((await strand(['import', world, '--data', half])).code).toBe(0)
  expect(indexesIn(half)).toEqual(before)
  expect((await strand(['export', '--data', half])).stdout).toBe(whole.stdout)
}, 120_000)

test('a large import that is killed has added all entitlements or none, and run again it is an import', async () => {
  const world = writeWorld('kill.ndjson', 60_000)
  const before = indexesIn(await makeStore('kill'))
  const killed = new StrandProcess(['import', world, '--data', at('kill')])
  await killed.until(() => isWritten(at('kill')))
  await killed.end('SIGKILL')
  const unchanged = rowsIn(at('kill'))
  expect([0, 60_000]).toContain(unchanged)
  const again = await strand(['import', world, '--data', at('kill'), '--json'])
  const counts = { created: 60_000 - unchanged, changed: 0, unchanged }
  expect(JSON.parse(again.stdout).types.entitlement).toEqual(counts)
  expect(indexesIn(at('kill'))).toEqual(before)
}, 120_000)

test('a large import into a store with some of it changes those, and with a wrong line changes nothing', async () => {
  const world = writeWorld('partly.ndjson', 60_000)
  const lines = readFileSync(world, 'utf8').split('\n')
  const some = at('some.ndjson')
  writeFileSync(some, lines.slice(0, 1004).join('\n'))
  const [atOnce, lineByLine] = [await makeStore('at-once'), await makeStore('line-by-line')]
  for (const data of [atOnce, lineByLine])
    expect((await strand(['import', some, '--data', data])).code).toBe(0)
  const before = await strand(['export', '--data', atOnce])

  const change = (line: string | undefined, fields: object) =>
    JSON.stringify({ ...JSON.parse(line ?? ''), ...fields })
  lines[10] = change(lines[10], { timestamp: '2026-03-01T00:00:00Z' })
  writeFileSync(world, lines.join('\n'))
  const wrong = await strand(['import', world, '--data', atOnce])
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toMatch(/line 11: the entitlement ".*" exists with other content; nothing was changed/)
  lines[10] = change(lines[11], { id: '00000000-0000-4000-8000-000000000000' })
  lines[60_000] = change(lines[11], {})
  writeFileSync(world, lines.join('\n'))
  const twice = await strand(['import', world, '--data', atOnce])
  expect(twice.stderr).toMatch(/line 60001: .* is in this file already; nothing was changed/)
  expect((await strand(['export', '--data', atOnce])).stdout).toBe(before.stdout)

  const later = { fulfillment_status: 'FULFILLED', last_updated: '2026-03-01T00:00:00.000Z' }
  lines[12] = change(lines[12], later)
  lines[60_000] = change(lines[11], { id: '00000000-0000-4000-8000-000000000001', ...later })
  writeFileSync(world, lines.join('\n'))
  const both = await Promise.all([
    strand(['import', world, '--data', atOnce, '--json']),
    strand(['import', world, '--data', lineByLine, '--json', '--continue']),
  ])
  const counts = both.map(({ stdout }) => JSON.parse(stdout).types.entitlement)
  expect(counts).toEqual(Array(2).fill({ created: 59_001, changed: 1, unchanged: 998 }))
  const exports = await Promise.all([atOnce, lineByLine].map(data => strand(['export', '--data', data])))
  expect(exports[0]?.stdout).toBe(exports[1]?.stdout)
  expect(exports[0]?.stdout.split('\n').length).toBe(60_000 + 1 + 6)
  expect((await strand(['audit', 'verify', '--data', atOnce])).code).toBe(0)
}, 120_000)

test('a large import that is interrupted before it adds entitlements is resumed at the first of them', async () => {
  const world = writeWorld('interrupted.ndjson', 50_000)
  const data = await makeStore('stopped')
  const running = await importHere(world, data, {}, (event, started) => {
    if ('progress' in event && event.progress.of !== undefined) started.stop()
  })
  expect(running.lastLine).toBe(4)
  expect(rowsIn(data)).toBe(0)
}, 120_000)

test('a large import whose staged entitlements are lost adds none of them', async () => {
  const world = writeWorld('lost.ndjson', 60_000)
  const data = await makeStore('lost')
  using other = new Database(join(data, 'strand.db'))
  // The writer opens the store again after a failure, here because of a lock, without its temporary tables.
  const fail = async ({ commands }: Store) => {
    other.run('begin immediate')
    await expect(commands.setFact({ name: 'x', value: 'y' })).rejects.toThrow()
    other.run('rollback')
    const isBack = () =>
      commands.setFact({ name: 'x', value: 'y' }).then(
        () => true,
        () => false,
      )
    while (!(await isBack())) await Bun.sleep(20)
  }
  let batches = 0
  const losing = importHere(world, data, {}, (_, __, store) => (++batches === 3 ? fail(store) : undefined))
  await expect(losing).rejects.toThrow('entitlements that were checked are no longer there')
  expect([batches >= 3, rowsIn(data)]).toEqual([true, 0])
}, 120_000)

test('an import beside a server keeps all indexes', async () => {
  const world = writeWorld('beside.ndjson', 60_000)
  const data = await makeStore('beside')
  const before = indexesIn(data)
  const server = await new StrandProcess(['serve', '--data', data, '--listen', '127.0.0.1:0']).serving()
  const child = new StrandProcess(['import', world, '--data', data])
  await child.until(() => rowsIn(data) > 0)
  expect(indexesIn(data)).toEqual(before)
  expect(await child.exit()).toBe(0)
  await server.end('SIGTERM')
}, 120_000)
