import { expect, test } from 'bun:test'
import { streamOf } from '../../src/http/stream.ts'
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
  const reading = new Response(streamOf(lines, error => failures.push(error))).text()
  expect(await reading.catch((error: Error) => error.message)).toBe('the file is gone')
  expect(failures.map(error => (error as Error).message)).toEqual(['the file is gone'])
  expect(closed).toBe(1)
})
