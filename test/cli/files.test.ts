/** What the commands make of files that they are given: wrong ones are refused in one sentence, before any work. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measured } from '../support/cli/measured.ts'
import {
  type Environment,
  endAllProcesses,
  STRAND_IN_SHELL,
  StrandProcess,
} from '../support/cli/strand-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-files-'))

async function strand(words: readonly string[], environment: Environment = {}) {
  const child = new StrandProcess(words, { cwd: folder, environment })
  return { code: await child.exit(), stdout: child.stdout, stderr: child.stderr }
}

beforeAll(async () => {
  mkdirSync(join(folder, 'a-folder'))
  expect((await strand(['migrate'])).code).toBe(0)
})
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a file that cannot be', () => {
  test.each([
    [
      ['demo', '--port', '0', '--world', '/nowhere/world.json'],
      'cannot write world.json: no folder /nowhere',
    ],
    [['demo', '--port', '0', '--world', 'a-folder'], 'a-folder is a folder: give a file'],
    [['backup', 'a-folder', '--yes'], 'a-folder is a folder: give a file'],
    [['export', 'a-folder'], 'a-folder is a folder: give a file'],
    [['export', '/dev/null', '--yes'], '/dev/null is not a regular file: give another'],
    [['verify', '.'], 'the backup . cannot be read: it is a folder'],
    [['import', '.'], 'cannot read .: it is a folder'],
  ])('%p', async (words, sentence) => {
    expect(await strand(words)).toEqual({ code: 1, stdout: '', stderr: `strand: ${sentence}\n` })
    expect(readdirSync(folder).sort()).toEqual(['a-folder', 'data'])
    expect(readdirSync(join(folder, 'a-folder'))).toEqual([])
  })

  test('one to import that is not there', async () => {
    const { code, stderr } = await strand(['import', 'nowhere.ndjson'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^strand: cannot read nowhere\.ndjson: [^\n]+\n$/),
    ])
  })

  test('what the system refuses is one sentence wherever it comes from', async () => {
    const { code, stderr } = await strand(['verify', 'a-folder'], { TMPDIR: '/nowhere' })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^strand: E[A-Z]+: [^\n]+\n$/)])
  })
})

test('a device without a byte is an import of nothing', async () => {
  const { code, stdout, stderr } = await strand(['import', '/dev/null', '--json'])
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({ lines: 0, types: {} })
  expect(existsSync(join(folder, 'data', 'strand.db'))).toBe(true)
})

test.each([
  'backup b.tar --passphrase-file /dev/zero',
  'restore b.tar --data elsewhere --passphrase-file /dev/zero',
  'config --config /dev/zero',
  'user list --url http://127.0.0.1:1 --token-file /dev/zero',
  'demo --port 0 --scenario /dev/zero',
  'viewer set --body /dev/zero',
  'viewer set --body - < /dev/zero',
  'user password 1 < /dev/zero',
  'import /dev/zero',
  'import - < /dev/zero',
])('a file without an end is refused: strand %s', async line => {
  const command = `exec ${STRAND_IN_SHELL} ${line}`
  const { stderr, code, memory } = await measured(['timeout', '-s', 'KILL', '20', 'bash', '-c', command], {
    cwd: folder,
  })
  expect(stderr).toMatch(
    /^strand: [^\n]*(larger than \d+ KiB|longer than \d+ bytes|--config \/dev\/zero)[^\n]*\n$/,
  )
  expect(code).toBeOneOf([1, 2])
  expect(memory).toBeLessThan(300 * 1024 * 1024)
})
