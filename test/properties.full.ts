/**
 * The properties of the default tier again, tried as often as they deserve: see `runs`. The names of their tests begin with
 * `property: `; the other tests of their files are not repeated.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { runnerOptions } from './support/runner/options.ts'

const TIMEOUT_MILLISECONDS = 600_000
const TRIED_OFTEN = /\bruns\(/

const files = [...new Glob('./test/**/*.test.ts').scanSync('.')]
  .filter(file => TRIED_OFTEN.test(readFileSync(file, 'utf8')))
  .sort()

test(
  'properties hold',
  async () => {
    const options = [...runnerOptions({ isFull: false, workers: 1 }), '-t', 'property: ']
    const run = Bun.spawn([process.execPath, 'test', ...options, ...files], {
      env: process.env,
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const report = await new Response(run.stderr).text()
    // Only a failure is of interest.
    expect([await run.exited, report.match(/^\s*0 fail$/m) ? '' : report]).toEqual([0, ''])
    expect(Number(report.match(/^\s*(\d+) pass$/m)?.[1])).toBeGreaterThan(files.length)
  },
  TIMEOUT_MILLISECONDS,
)
