/**
 * Whatever goes wrong in a test file fails the run by the name of the file, and takes no other file with it. Only what failed
 * while the host of the machine took its processors runs again.
 */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runnerOptions } from '../support/runner/options.ts'
import { type Count, Report } from '../support/runner/report.ts'
import { StolenTime } from '../support/runner/stolen-time.ts'
import { unluckyFiles } from '../support/runner/unlucky-files.ts'

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
mkdirSync(join(folder, 'test'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(files: Readonly<Record<string, string>>): Promise<{ code: number; report: string }> {
  for (const [name, body] of Object.entries(files))
    writeFileSync(
      join(folder, 'test', `${name}.test.ts`),
      `import { afterAll, expect, test } from 'bun:test'\n${body}\n`,
    )
  const runner = Bun.spawn(
    [
      process.execPath,
      'test',
      ...runnerOptions({ workers: 2, isFull: false }),
      ...Object.keys(files).map(name => `./test/${name}.test.ts`),
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

const read = (text: string) => {
  const report = new Report()
  // In pieces, as it comes.
  for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) report.add(piece)
  return report
}

test('a failure is reported with its file and what was written about it', async () => {
  const { report } = await run({ 'fine-1': FINE, 'a-failure': PLANTED['a-failure'] ?? '', 'fine-2': FINE })
  const result = read(report)
  const { failures } = result
  expect(failures.map(({ file }) => file)).toEqual(['test/a-failure.test.ts'])
  expect(failures[0]?.explanation).toMatch(
    /^test\/a-failure\.test\.ts:\n[\s\S]*Expected: 2[\s\S]*\n\(fail\) is false/,
  )
  expect(['pass', 'fail', 'error'].map(word => result.count(word as Count))).toEqual([2, 1, 0])
})

/** What a run reports whose test took 50 s and failed. */
const FAILED = `
test/site/live.full.ts:
Received: 4692
(fail) plays [50000.00ms]

1 tests failed:
(fail) plays [50000.00ms]

 44 pass
 1 fail
`
const failedRun = (text = FAILED, code = 1) => ({ code, report: read(text) })
const noted = () => {
  const times: [from: number, to: number][] = []
  const stolen = (share: number) => ({
    worst: (from: number, to: number) => {
      times.push([from, to])
      return share
    },
  })
  return { times, stolen }
}

test('a file runs again whose failure fell into a time that the host took', () => {
  const { times, stolen } = noted()
  const now = performance.now()
  expect(unluckyFiles([failedRun()], stolen(0.3))).toEqual(['./test/site/live.full.ts'])
  const [[from, to] = [0, 0]] = times
  // The test, and the hooks before it.
  expect([Math.round((to - from) / 1000), to - now < 60_000]).toEqual([80, true])
})

test('no file runs again after a failure on a machine that had its processors', () => {
  expect(unluckyFiles([failedRun()], noted().stolen(0.1))).toEqual([])
})

test('no file runs again after an error outside a test, a runner that ended early, or no failure at all', () => {
  const { stolen } = noted()
  expect(unluckyFiles([failedRun(`${FAILED} 1 error\n`)], stolen(1))).toEqual([])
  expect(unluckyFiles([failedRun(FAILED.split('1 tests')[0])], stolen(1))).toEqual([])
  expect(unluckyFiles([failedRun(), failedRun(' 3 pass\n 0 fail\n')], stolen(1))).toEqual([])
  expect(unluckyFiles([failedRun(' 3 pass\n 0 fail\n', 0)], stolen(1))).toEqual([])
})

test('no file runs again if many failed', () => {
  const files = Array.from({ length: 9 }, (_, n) => failedRun(FAILED.replace('live', `live${n}`)))
  expect(unluckyFiles(files.slice(1), noted().stolen(1))).toHaveLength(8)
  expect(unluckyFiles(files, noted().stolen(1))).toEqual([])
})

test('stolen time is counted as the system counts it', async () => {
  const lines = ['cpu  10 0 10 100 0 0 0 5 0 0\ncpu0 1', 'cpu  20 0 20 150 0 0 0 35 9 9\n', '']
  const stolen = new StolenTime(() => lines.shift() ?? '')
  const began = performance.now()
  stolen.note()
  const middle = performance.now() + 1
  while (performance.now() < middle + 1) await Bun.sleep(1)
  stolen.note()
  stolen.stop()
  expect([stolen.worst(began, middle), stolen.worst(middle, middle + 9)]).toEqual([0.3, 0])
})

test('a second of work that got its processor ends the wait for a calm machine', async () => {
  let [idle, taken, trials] = [0, 0, 0]
  const stolen = new StolenTime(() => {
    idle += 90
    // From the first trial, not from the second.
    if (trials++ === 2) taken += 50
    return `cpu 0 0 0 ${idle} 0 0 0 ${taken} 0 0`
  })
  using wait = spyOn(Bun, 'sleep').mockResolvedValue(undefined)
  await stolen.untilCalm()
  stolen.stop()
  expect([wait.mock.calls, trials]).toEqual([[[9000]], 5])
})
