/**
 * `startStrand` runs the sources as a child in a checkout. Tests of other things than that start the executable that the test run
 * has built, in a third of the processor time.
 */
import { afterAll, beforeAll, mock } from 'bun:test'
import * as childProcess from 'node:child_process'
import { programFile } from '../../bin/runtime.js'
import { environmentOf, STRAND } from '../support/cli/strand-process.ts'

const actual = { ...childProcess }
const [program = '', ...first] = STRAND

/** For all tests of a file. */
export function usingBuiltChildren(): void {
  const spawn = (file: string, words: readonly string[], options: childProcess.SpawnOptions) => {
    const at = words.indexOf(programFile())
    if (at < 0) return actual.spawn(file, words, options)
    const env = { ...process.env, ...environmentOf() }
    return actual.spawn(program, [...first, ...words.slice(at + 1)], { ...options, env })
  }
  beforeAll(() => mock.module('node:child_process', () => ({ ...actual, spawn })))
  afterAll(() => mock.module('node:child_process', () => actual))
}
