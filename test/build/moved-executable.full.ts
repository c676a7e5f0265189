/** The executable of `npm run build`, built in a copy of the checkout that is gone when it runs. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyInstalledCheckout } from '../../build/copied-checkout.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'

const BUILD_MILLISECONDS = 300_000

const folder = mkdtempSync(join(tmpdir(), 'strand-moved-'))
const checkout = join(folder, 'checkout')
const executable = join(folder, 'strand')

beforeAll(async () => {
  copyInstalledCheckout(checkout)
  const build = Bun.spawn(['npm', 'run', 'build', '--', '--out', executable], {
    cwd: checkout,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  expect(await build.exited).toBe(0)
  rmSync(checkout, { recursive: true })
}, BUILD_MILLISECONDS)
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (...words: string[]) => new StrandProcess(words, { command: [executable], cwd: folder })

test('contains no path of the machine that built it', () => {
  expect(existsSync(checkout)).toBe(false)
  expect(readFileSync(executable).includes(checkout)).toBe(false)
})

test('serves the demo', async () => {
  const demo = start('demo', '--port', '0', '--no-rtmp', '--streams', '3', '--json')
  const { base_url } = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as {
    base_url: string
  }
  expect((await fetch(`${base_url}/readyz`)).status).toBe(200)
  expect(await demo.end('SIGTERM')).toBe(0)
})

test('makes a backup and verifies it', async () => {
  for (const words of [
    ['migrate', '--data', 'data'],
    ['user', 'create', 'plucky_jackal', '--data', 'data'],
    ['backup', '--data', 'data', '--unsealed', 'backup.tar'],
    ['verify', 'backup.tar'],
  ]) {
    const strand = start(...words)
    expect([words, await strand.exit(), strand.stderr]).toEqual([words, 0, expect.any(String)])
  }
})
