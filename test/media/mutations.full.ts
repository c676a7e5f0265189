import { test } from 'bun:test'
import { expectToSurvive } from './mutated-conversations.ts'

test('200,000 mutated conversations give messages or protocol errors, in bounded time and memory', () => {
  expectToSurvive(200_000, 1_000_000)
})
