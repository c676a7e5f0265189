import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Files that a merge or a patch leaves behind when it did not go through. */
const LEFTOVER = /\.(orig|rej)$/

// A copy of the sources without their history has nothing that is tracked.
test.skipIf(!existsSync('.git'))('nothing that a merge left behind is tracked', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')
  expect(tracked.length).toBeGreaterThan(100)
  expect(tracked.filter(path => LEFTOVER.test(path))).toEqual([])
})
