/** A longer run: TEST_MUTATIONS=200000 */
import { test } from 'bun:test'
import { expectToSurvive } from './mutated-conversations.ts'

const CONVERSATIONS = Number(process.env.TEST_MUTATIONS || 50_000)

test(`${CONVERSATIONS} mutated conversations give messages or protocol errors, in bounded time and memory`, () => {
  expectToSurvive(CONVERSATIONS, 1_000_000)
})
