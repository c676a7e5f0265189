import { expect, test } from 'bun:test'
import { toByteStream } from '../../src/http/endpoint/streamed-body.ts'
import { StreamedLines } from '../../src/operations/implement.ts'

test('an answer that breaks off half-way is reported once, closed once, and ends in an error', async () => {
  async function* pieces() {
    yield new TextEncoder().encode('first\n')
    throw new Error('the file is gone')
  }
  const failures: unknown[] = []
  let closed = 0
  const lines = new StreamedLines(pieces(), async () => {
    closed += 1
  })
  const reading = new Response(toByteStream(lines, error => failures.push(error))).text()
  expect(await reading.catch((error: Error) => error.message)).toBe('the file is gone')
  expect(failures.map(error => (error as Error).message)).toEqual(['the file is gone'])
  expect(closed).toBe(1)
})

test('a reader that goes away while a piece is made is no failure, and the answer is closed once', async () => {
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: isMade, resolve: make } = Promise.withResolvers<void>()
  async function* pieces() {
    ask()
    await isMade
    yield new TextEncoder().encode('late\n')
  }
  const failures: unknown[] = []
  let closed = 0
  const lines = new StreamedLines(pieces(), async () => {
    closed += 1
  })
  const reader = toByteStream(lines, error => failures.push(error)).getReader()
  const reading = reader.read()
  await isAsked
  const cancelling = reader.cancel()
  make()
  await Promise.all([reading, cancelling])
  expect([failures, closed]).toEqual([[], 1])
})
