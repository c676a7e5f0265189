import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ChunkReader, type Message, TYPE, writeChunks } from '../../src/media/rtmp/chunks.ts'
import { ProtocolError } from '../../src/media/rtmp/protocol-error.ts'
import { runs } from '../support/properties.ts'

const message = fc.record({
  type: fc.constantFrom<number>(TYPE.audio, TYPE.video, TYPE.metadata, TYPE.command),
  streamId: fc.nat(3),
  timestamp: fc.oneof(fc.nat(100_000), fc.integer({ min: 0xfffff0, max: 0xffffffff })),
  payload: fc.uint8Array({ maxLength: 700 }),
})

const chunkSize = (bytes: number): Message => {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return { type: TYPE.setChunkSize, streamId: 0, timestamp: 0, payload }
}

/** Pushes bytes in pieces of these sizes. */
function readInPieces(bytes: Uint8Array, sizes: readonly number[]): Message[] {
  const reader = new ChunkReader()
  const messages: Message[] = []
  let at = 0
  for (let index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    messages.push(...reader.push(bytes.subarray(at, at + size)))
    at += size
  }
  return messages
}

const plain = (messages: readonly Message[]) =>
  messages.map(each => ({ ...each, payload: Buffer.from(each.payload).toString('hex') }))

test('messages arrive whole, however they are cut into chunks and packets', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
      (messages, bytes, sizes) => {
        const written = messages.map(each => writeChunks(4, each, bytes))
        const stream = Buffer.concat([writeChunks(2, chunkSize(bytes), 128), ...written])
        expect(plain(readInPieces(stream, sizes))).toEqual(plain(messages))
      },
    ),
  )
})

/** The chunks of a message, separately. */
function chunksOf(id: number, each: Message, bytes: number): Buffer[] {
  const whole = writeChunks(id, each, bytes)
  const time = each.timestamp >= 0xffffff ? 4 : 0
  const pieces = [whole.subarray(0, 12 + time + Math.min(bytes, each.payload.length))]
  for (let at = pieces[0]?.length ?? 0; at < whole.length; at += 1 + time + bytes)
    pieces.push(whole.subarray(at, at + 1 + time + bytes))
  return pieces
}

test('messages of two chunk streams may alternate', () => {
  fc.assert(
    fc.property(message, message, fc.array(fc.boolean(), { maxLength: 30 }), (a, b, turns) => {
      const [left, right] = [chunksOf(4, a, 128), chunksOf(6, b, 128)]
      const mixed: Buffer[] = []
      for (const turn of turns) mixed.push(...(turn ? left : right).splice(0, 1))
      const read = readInPieces(Buffer.concat([...mixed, ...left, ...right]), [64])
      expect(plain(read).sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1))).toEqual(
        plain([a, b]).sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1)),
      )
    }),
  )
})

test('abbreviated headers repeat what the previous message had', () => {
  const reader = new ChunkReader()
  const bytes = Buffer.concat([
    writeChunks(4, { type: 9, streamId: 1, timestamp: 1000, payload: Buffer.from('one') }, 128),
    // Format 1: time difference, length, type.
    Buffer.from([0x44, 0, 0, 40, 0, 0, 3, 8]),
    Buffer.from('two'),
    // Format 2: time difference only.
    Buffer.from([0x84, 0, 0, 20]),
    Buffer.from('six'),
    // Format 3: the same again.
    Buffer.from([0xc4]),
    Buffer.from('ten'),
  ])
  expect(
    reader.push(bytes).map(({ type, timestamp, payload }) => [type, timestamp, String(payload)]),
  ).toEqual([
    [9, 1000, 'one'],
    [8, 1040, 'two'],
    [8, 1060, 'six'],
    [8, 1080, 'ten'],
  ])
})

test('an abort discards the unfinished message', () => {
  const video = { type: 9, streamId: 1, timestamp: 0, payload: Buffer.alloc(300, 1) }
  const [begun] = chunksOf(4, video, 128)
  const abort = { type: TYPE.abort, streamId: 0, timestamp: 0, payload: Buffer.from([0, 0, 0, 4]) }
  const bytes = Buffer.concat([
    begun ?? Buffer.alloc(0),
    writeChunks(2, abort, 128),
    writeChunks(4, video, 128),
  ])
  expect(new ChunkReader().push(bytes)).toHaveLength(1)
})

test('limits: chunk size, message length, chunk streams, unfinished messages', () => {
  const refuses = (bytes: Uint8Array, why: string) => expect(() => new ChunkReader().push(bytes)).toThrow(why)
  refuses(writeChunks(2, chunkSize(0), 128), 'chunk size out of range')
  refuses(writeChunks(2, chunkSize(0x7fffffff), 128), 'chunk size out of range')
  refuses(Buffer.from([4, 0, 0, 0, 0xff, 0xff, 0xff, 9, 1, 0, 0, 0]), 'message too long')
  refuses(Buffer.from([0xc4]), 'no full header')
  const begun = (id: number) =>
    Buffer.concat([Buffer.from([0, id, 0, 0, 0, 0x3f, 0, 0, 9, 1, 0, 0, 0]), Buffer.alloc(128)])
  refuses(Buffer.concat(Array.from({ length: 65 }, (_, id) => begun(id))), 'too many chunk streams')
  const large = Buffer.concat([
    writeChunks(2, chunkSize(1_000_000), 128),
    ...Array.from({ length: 9 }, (_, id) =>
      Buffer.concat([Buffer.from([0, id, 0, 0, 0, 0x3f, 0, 0, 9, 1, 0, 0, 0]), Buffer.alloc(1_000_000)]),
    ),
  ])
  refuses(large, 'too many unfinished messages')
})

test('property: any bytes give messages or a protocol error', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), pieces => {
      const reader = new ChunkReader()
      try {
        for (const piece of pieces) reader.push(piece)
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
      }
    }),
    { numRuns: runs(5000) },
  )
})
