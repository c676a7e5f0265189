/** RTMP as enemies send it, without a socket. */
import { expect, test } from 'bun:test'
import { SeededRandom } from '../../src/kit/random.ts'
import { ChunkReader, type Message, TYPE } from '../../src/media/rtmp/chunks.ts'
import { Handshake } from '../../src/media/rtmp/handshake.ts'
import { ProtocolError } from '../../src/media/rtmp/protocol-error.ts'
import { control, HANDSHAKE, mutatedConversation } from '../support/media/rtmp-mutations.ts'
import { expectToSurvive, heapBytes } from './mutated-conversations.ts'

const MEBIBYTE = 1024 * 1024

test('1,000 mutated conversations give messages or protocol errors, in bounded time and memory', () => {
  expectToSurvive(1000, 1)
})

/** The messages in these pieces, or why they are refused. */
function outcomeOf(pieces: Iterable<Uint8Array>): string | readonly string[] {
  const reader = new ChunkReader()
  const messages: Message[] = []
  try {
    for (const piece of pieces) messages.push(...reader.push(piece))
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return error.message
  }
  return messages.map(({ payload, ...fields }) => `${JSON.stringify(fields)} ${Bun.hash(payload)}`)
}

function* cut(bytes: Buffer, random: SeededRandom): Generator<Buffer> {
  const most = random.pick([1, 20, 2000])
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.between(1, most)
    yield bytes.subarray(at, end)
    at = end
  }
}

test('any split of any bytes gives the same messages, or the same protocol error', () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = new SeededRandom(seed)
    const bytes = mutatedConversation(random).subarray(HANDSHAKE.length)
    expect([seed, outcomeOf(cut(bytes, random))]).toEqual([seed, outcomeOf([bytes])])
  }
})

test('a handshake that arrives byte by byte is answered once, with the block of the client', () => {
  const handshake = new Handshake(Buffer.alloc(1528, 7))
  const sent = Buffer.concat([
    Buffer.from([3]),
    Buffer.from(new SeededRandom(1).hex(3072)),
    Buffer.alloc(1536),
  ])
  const pushed = Array.from(sent.subarray(0, 3073), byte => handshake.push(Buffer.from([byte])))
  const replies = pushed.flatMap(({ reply }) => (reply === undefined ? [] : [reply]))
  expect(replies.map(({ length }) => length)).toEqual([3073])
  expect(replies[0]?.subarray(1537).equals(sent.subarray(1, 1537))).toBe(true)
  expect(pushed.findIndex(({ rest }) => rest !== undefined)).toBe(3072)
})

test('a message in chunks of a byte takes as much memory as it is long', () => {
  const reader = new ChunkReader()
  reader.push(control(TYPE.setChunkSize, 1))
  reader.push(Buffer.from([4, 0, 0, 0, 0x20, 0, 0, 9, 1, 0, 0, 0, 0x55]))
  const chunks = Buffer.alloc(MEBIBYTE).fill(Buffer.from([0xc4, 0x55]))
  const before = heapBytes()
  for (let half = 0; half < 2; half++) expect(reader.push(chunks)).toEqual([])
  expect(heapBytes() - before).toBeLessThan(8 * MEBIBYTE)
})

test('headers without messages reserve little', () => {
  const before = heapBytes()
  const readers = Array.from({ length: 100 }, () => {
    const reader = new ChunkReader()
    for (let id = 0; id < 60; id++)
      reader.push(Buffer.from([0, id, 0, 0, 0, 0x3f, 0, 0, 9, 1, 0, 0, 0, 0x55]))
    return reader
  })
  expect(heapBytes() - before).toBeLessThan(100 * MEBIBYTE)
  expect(readers).toHaveLength(100)
})
