/** The examples in the help of the commands that look after the data, run unchanged but for the names of this machine. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endAllProcesses, STRAND_IN_SHELL } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { Installation, makeSmallWorld, runStrand } from './installation.ts'

const scratch = mkdtempSync(join(tmpdir(), 'strand-examples-'))
const data = join(scratch, 'data')
const keyIds = () =>
  readFileSync(join(data, 'master-keys'), 'utf8')
    .trim()
    .split(',')
    .map(each => each.split(':')[0])
let place: StorePlace | undefined

beforeAll(async () => {
  mkdirSync(join(scratch, 'bin'))
  const command = `#!/bin/sh\nexec ${STRAND_IN_SHELL} "$@"\n`
  writeFileSync(join(scratch, 'bin', 'strand'), command, { mode: 0o755 })
  writeFileSync(join(scratch, 'passphrase.txt'), 'correct horse battery\n')
  writeFileSync(join(scratch, 'strand.env'), 'STRAND_LOG=warn\n')
  const strand = await Installation.start(data)
  await makeSmallWorld(strand, 1)
  await strand.process.end('SIGTERM')
  if (engines.includes('postgres')) place = await createStorePlace('postgres')
})
afterAll(async () => {
  await endAllProcesses()
  rmSync(scratch, { recursive: true, force: true })
  await place?.remove()
})

async function examplesOf(words: string): Promise<string[]> {
  const { code, stdout } = await runStrand([...words.split(' '), '--help'])
  expect(code).toBe(0)
  const [, listed = ''] = /\nExamples:\n((?: {2}.*\n?)+)/.exec(stdout) ?? []
  return listed
    .trim()
    .replaceAll(/ \\\n +/g, ' ')
    .split('\n')
    .map(line => line.trim())
}

function onThisMachine(example: string): string {
  return example
    .replaceAll('/var/lib/strand', data)
    .replaceAll('/var/backups', scratch)
    .replaceAll('Ab3dE9xK', keyIds().at(-1) ?? '')
    .replace(/postgres:\/\/\S+/, place?.databaseUrl ?? '')
}

const commands = [
  ...['backup', 'verify', 'restore', 'doctor', 'config'],
  ...['key-ring list', 'key-ring add', 'key-ring promote', 'key-ring reseal', 'key-ring retire'],
  'key-ring drop-signing-keys',
]
for (const words of commands) {
  test(`strand ${words}`, async () => {
    const examples = await examplesOf(words)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples.filter(each => !each.includes('postgres:') || place !== undefined)) {
      const line = onThisMachine(example)
      const shell = Bun.spawn(['sh', '-c', line], {
        cwd: scratch,
        env: { PATH: `${join(scratch, 'bin')}:${process.env.PATH}` },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      })
      const stderr = await new Response(shell.stderr).text()
      expect([example, await shell.exited, stderr.match(/^(strand|error): .*/m)]).toEqual([example, 0, null])
    }
  })
}

test('all of them are there', async () => {
  const { stdout } = await runStrand(['key-ring', '--help'])
  for (const verb of ['list', 'add', 'promote', 'reseal', 'retire']) expect(stdout).toContain(`  ${verb} `)
})
