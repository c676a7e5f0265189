/** Whatever goes wrong in a test file fails the run by the name of the file, and takes no other file with it. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runnerOptions } from '../support/runner-options.ts'

const PLANTED: Readonly<Record<string, string>> = {
  'a-failure': `test('is false', () => expect(1).toBe(2))`,
  'no-assertion': `test('ends', async () => { await Bun.sleep(1) })`,
  'a-throw': `throw new Error('on import')`,
  'a-missing-module': `import './nowhere.ts'`,
  'a-killed-process': `test('is killed', () => process.kill(process.pid, 'SIGKILL'))`,
  'an-exit': `test('exits', () => process.exit(0))`,
  'a-hook': `afterAll(() => { throw new Error('at the end') })\ntest('is true', () => expect(1).toBe(1))`,
}

const folder = mkdtempSync(join(tmpdir(), 'strand-runner-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(files: Readonly<Record<string, string>>): Promise<{ code: number; report: string }> {
  for (const [name, body] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import { afterAll, expect, test } from 'bun:test'\n${body}\n`,
    )
  const runner = Bun.spawn(
    [
      process.execPath,
      'test',
      ...runnerOptions({ workers: 2, isFull: false }),
      ...Object.keys(files).map(name => `./${name}.test.ts`),
    ],
    { cwd: folder, env: { PATH: process.env.PATH, NO_COLOR: '1' }, stdout: 'ignore', stderr: 'pipe' },
  )
  const report = await runner.stderr.text()
  return { code: await runner.exited, report }
}

const FINE = `test('is true', () => expect(1).toBe(1))`

test('files without a fault pass', async () => {
  const { code, report } = await run({ 'fine-1': FINE, 'fine-2': FINE })
  expect({ code, report }).toEqual({ code: 0, report: expect.stringMatching(/^ 2 pass\n 0 fail$/m) })
})

for (const [name, body] of Object.entries(PLANTED)) {
  test(`${name.replaceAll('-', ' ')} fails the run`, async () => {
    const { code, report } = await run({ 'fine-1': FINE, [name]: body, 'fine-2': FINE })
    expect(code).toBe(1)
    expect(report).toContain(`${name}.test.ts`)
    expect(report).toMatch(/^ 1 fail$/m)
    expect(report.match(/^\(pass\) is true/gm)?.length).toBe(name === 'a-hook' ? 3 : 2)
  })
}
