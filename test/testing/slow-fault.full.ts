import { expect, test } from 'bun:test'
import { startStrand } from '../../src/testing/start-strand.ts'

test('200: an answer may stall for longer than a connection may be idle', async () => {
  await using strand = await startStrand({ streams: 1 })
  await strand.faults.plan({ operation: 'GetStreams', outcome: 'answer_stalled', milliseconds: 14_000 })
  const { data } = (await (await fetch(`${strand.url}/helix/streams`)).json()) as { data: unknown[] }
  expect(data).toHaveLength(1)
})

test('200: a slow call may take longer than a connection may be idle', async () => {
  await using strand = await startStrand({ streams: 1 })
  await strand.faults.plan({ operation: 'GetStreams', outcome: 'slow', milliseconds: 14_000 })
  expect((await fetch(`${strand.url}/helix/streams`)).status).toBe(200)
})
