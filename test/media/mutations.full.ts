/** A longer run: TEST_MUTATIONS=200000 */
import { expect, test } from 'bun:test'
import { Publisher } from '../../src/media/rtmp/publisher.ts'
import { conversation } from '../support/media/rtmp-mutations.ts'
import { expectToSurvive } from './mutated-conversations.ts'

const CONVERSATIONS = Number(process.env.TEST_MUTATIONS || 50_000)

test(`${CONVERSATIONS} mutated conversations give messages or protocol errors, in bounded time and memory`, () => {
  expectToSurvive(CONVERSATIONS, 1_000_000)
})

test('a conversation in two parts, divided at every byte, gives the same events', () => {
  const bytes = Buffer.concat(conversation())
  const eventsOf = (pieces: readonly Uint8Array[]): string => {
    const events: unknown[] = []
    const publisher: Publisher = new Publisher(
      {
        send: () => undefined,
        publish: request => {
          events.push(request)
          publisher.accept()
        },
        media: ({ kind, timestamp, payload }) => events.push(kind, timestamp, Bun.hash(payload).toString()),
        stop: () => events.push('stop'),
      },
      new Uint8Array(1528),
    )
    for (const piece of pieces) publisher.receive(piece)
    return JSON.stringify(events)
  }
  const whole = eventsOf([bytes])
  expect(whole).toContain('"stop"')
  const differing = Array.from(bytes, (_, at) => at).filter(
    at => eventsOf([bytes.subarray(0, at), bytes.subarray(at)]) !== whole,
  )
  expect(differing).toEqual([])
})
