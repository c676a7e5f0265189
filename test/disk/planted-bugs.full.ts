/** A test that never finds anything might be blind: here the program has a bug on purpose, and each must be found. */
import { describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { canFailDisk } from '../support/cli/failing-disk.ts'
import { PLANTED_BUGS, withBug } from './planted-bugs.ts'
import { cutOff, failAndHeal, moveStore, onTrial, strikes, TEST_MILLISECONDS } from './scenarios.ts'
import type { DiskTrial } from './trial.ts'

const ATTEMPTS = 3

const move = (trial: DiskTrial) => moveStore(trial, () => renameSync(trial.data, `${trial.data}-elsewhere`))

/** Which scenario has to find it, and what it reports. */
const found: Record<
  keyof typeof PLANTED_BUGS,
  {
    readonly by: (trial: DiskTrial) => Promise<string[]>
    readonly finding: RegExp
    readonly needsDisk: boolean
  }
> = {
  'callers wait for the end of a view, which may fail': {
    by: trial => failAndHeal(trial, strikes['reads fail']),
    finding: /nothing works when the disk does again|wrong answers/,
    needsDisk: true,
  },
  'a commit that failed is acknowledged': {
    by: trial => failAndHeal(trial, strikes['fsync fails']),
    finding: /no order explains|was refused/,
    needsDisk: true,
  },
  'a write has no deadline': {
    by: trial => failAndHeal(trial, strikes['fsync stalls']),
    // Without a separate deadline, a write has that of its request.
    finding: /was refused|with 503 after 1\d\.\d s/,
    needsDisk: true,
  },
  'readiness does not ask for the writer': {
    by: trial => failAndHeal(trial, strikes['writes fail']),
    finding: /\/readyz did not report it/,
    needsDisk: true,
  },
  'names of files are not looked at': { by: move, finding: /into files without a name/, needsDisk: false },
  'the file is mapped into memory': { by: cutOff, finding: /no longer answers/, needsDisk: false },
}

describe('planted bugs on a failing disk', () => {
  for (const bug of Object.keys(PLANTED_BUGS) as (keyof typeof PLANTED_BUGS)[]) {
    const { by, finding, needsDisk } = found[bug]
    test.skipIf(needsDisk && !canFailDisk)(
      `caught: ${bug}`,
      async () => {
        // It shows only if a fault strikes at the wrong moment, which takes luck on a busy machine.
        let violations = ''
        for (let attempt = 1; attempt <= ATTEMPTS && !finding.test(violations); attempt++)
          violations = (await withBug(bug, program => onTrial(by, { program }))).join('\n')
        expect(violations).toMatch(finding)
      },
      ATTEMPTS * TEST_MILLISECONDS,
    )
  }
})
