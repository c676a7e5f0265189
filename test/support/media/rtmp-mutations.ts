/** What encoders send, and what is made of it to break a server. The same seed gives the same bytes. */

import type { SeededRandom } from '../../../src/kit/random.ts'
import { type Amf, encodeAmf } from '../../../src/media/rtmp/amf0.ts'
import { type Message, TYPE, writeChunks } from '../../../src/media/rtmp/chunks.ts'
import { AVC } from './codecs.ts'

const BLOCK = 1536
const CHUNK_BYTES = 4096

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

export const control = (type: number, value: number): Buffer =>
  writeChunks(2, { type, streamId: 0, timestamp: 0, payload: uint32(value) }, 128)

export const commandOf = (streamId: number, ...values: readonly Amf[]): Buffer =>
  rawCommand(streamId, encodeAmf(...values))

export const rawCommand = (streamId: number, payload: Uint8Array): Buffer =>
  writeChunks(3, { type: TYPE.command, streamId, timestamp: 0, payload }, CHUNK_BYTES)

export const mediaOf = (type: number, timestamp: number, payload: Uint8Array): Buffer =>
  writeChunks(type === TYPE.audio ? 4 : 6, { type, streamId: 1, timestamp, payload }, CHUNK_BYTES)

/** Both blocks of a client; a server does not compare the second one with what it sent. */
export const HANDSHAKE: Buffer = Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * BLOCK, 0x5a)])

const METADATA = new Map<string, Amf>([
  ['width', 1920],
  ['height', 1080],
  ['framerate', 60],
  ['encoder', 'obs-output module (libobs version 30.0.0)'],
  ['stereo', true],
  ['nested', new Map<string, Amf>([['list', [1, 'two', null, undefined, [3]]]])],
])

/** From the handshake to the end of a short broadcast, message by message. */
export function conversation(name = 'live_1_key'): Buffer[] {
  return [
    HANDSHAKE,
    control(TYPE.setChunkSize, CHUNK_BYTES),
    commandOf(
      0,
      'connect',
      1,
      new Map<string, Amf>([
        ['app', 'live'],
        ['type', 'nonprivate'],
        ['tcUrl', 'rtmp://127.0.0.1/live'],
      ]),
    ),
    control(TYPE.windowSize, 2_500_000),
    commandOf(0, 'releaseStream', 2, null, name),
    commandOf(0, 'FCPublish', 3, null, name),
    commandOf(0, 'createStream', 4, null),
    commandOf(1, 'publish', 5, null, name, 'live'),
    mediaOf(TYPE.metadata, 0, encodeAmf('@setDataFrame', 'onMetaData', METADATA)),
    mediaOf(TYPE.video, 0, AVC.header),
    mediaOf(TYPE.audio, 0, Buffer.from([0xaf, 0, 0x12, 0x10])),
    mediaOf(TYPE.video, 0, AVC.keyFrame(5000)),
    mediaOf(TYPE.audio, 21, Buffer.from([0xaf, 1, 2, 3, 4])),
    mediaOf(TYPE.video, 0xffffff + 40, AVC.frame(4500)),
    mediaOf(TYPE.audio, 0xffffffff, Buffer.from([0xaf, 1, 5])),
    commandOf(1, 'FCUnpublish', 6, null, name),
    commandOf(1, 'deleteStream', 7, null, 1),
  ]
}

/** An object in an object, without ends. */
const deepAmf = (depth: number): Buffer =>
  Buffer.concat(Array.from({ length: depth }, () => Buffer.from([3, 0, 1, 0x61])))

/** Claims far more values than there are bytes. */
const longArray = (count: number): Buffer => Buffer.concat([Buffer.from([10]), uint32(count)])

/** A list in a list, each with many places. */
const wideAndDeep = (): Buffer => Buffer.concat(Array.from({ length: 20 }, () => longArray(900)))

/** A text that claims to be longer than the message. */
const lyingText = (length: number): Buffer =>
  Buffer.concat([Buffer.from([12]), uint32(length), Buffer.from('short')])

const start = encodeAmf('connect', 1)

/** Commands that a bounded reader must refuse. */
export const AMF_BOMBS: readonly Buffer[] = [
  Buffer.concat([start, deepAmf(1000)]),
  Buffer.concat([start, longArray(0xffffffff)]),
  Buffer.concat([start, wideAndDeep()]),
  Buffer.concat([start, lyingText(0xffffffff)]),
  Buffer.concat([start, Buffer.alloc(5000, 5)]),
  Buffer.from([2, 0xff, 0xff, 0x61]),
  Buffer.from([17, 10, 11, 1]),
]

/** A header with these fields, whatever they mean. */
function absurdHeader(random: SeededRandom): Buffer {
  const ids = [
    Buffer.from([random.between(0, 63)]),
    Buffer.from([0, random.between(0, 255)]),
    Buffer.from([1, random.between(0, 255), random.between(0, 255)]),
  ]
  const basic = random.pick(ids)
  basic[0] = (basic[0] ?? 0) | (random.between(0, 3) << 6)
  const lengths = [0, 1, 127, 128, 4096, 0x400000, 0x400001, 0xffffff]
  const header = Buffer.alloc(11)
  header.writeUIntBE(random.pick([0, 1, 0xfffffe, 0xffffff]), 0, 3)
  header.writeUIntBE(random.pick(lengths), 3, 3)
  header.writeUInt8(random.pick([0, ...Object.values(TYPE), 15, 17, 22, 255]), 6)
  header.writeUInt32LE(random.pick([0, 1, 2, 0xffffffff]), 7)
  const extended = uint32(random.pick([0, 0xffffff, 0x1000000, 0xffffffff]))
  const body = Buffer.alloc(random.between(0, 300), random.between(0, 255))
  return Buffer.concat([
    basic,
    header.subarray(0, random.pick([0, 3, 7, 11, 11])),
    random.pick([extended, Buffer.alloc(0)]),
    body,
  ])
}

const flipBits = (bytes: Buffer, random: SeededRandom): Buffer => {
  const copy = Buffer.from(bytes)
  for (let count = random.between(1, 8); count > 0 && copy.length > 0; count--) {
    const at = random.between(0, copy.length - 1)
    copy[at] = (copy[at] ?? 0) ^ (1 << random.between(0, 7))
  }
  return copy
}

type Mutation = (pieces: Buffer[], at: number, random: SeededRandom) => void

const MUTATIONS: readonly Mutation[] = [
  (pieces, at, random) => void pieces.splice(at, 1, flipBits(pieces[at] ?? HANDSHAKE, random)),
  (pieces, at, random) => {
    const piece = pieces[at] ?? HANDSHAKE
    pieces.splice(at, 1, piece.subarray(0, random.between(0, piece.length)))
  },
  (pieces, at, random) => {
    const piece = pieces[at] ?? HANDSHAKE
    const from = random.between(0, piece.length)
    pieces.splice(
      at,
      1,
      Buffer.concat([
        piece.subarray(0, from),
        piece.subarray(Math.min(piece.length, from + random.between(1, 16))),
      ]),
    )
  },
  (pieces, at) => void pieces.splice(at, 0, pieces[at] ?? HANDSHAKE),
  (pieces, at) => void pieces.splice(at, 1),
  (pieces, at, random) => void pieces.splice(random.between(1, pieces.length), 0, ...pieces.splice(at, 1)),
  (pieces, at, random) => void pieces.splice(at, 0, absurdHeader(random)),
  (pieces, at, random) =>
    void pieces.splice(
      at,
      0,
      control(
        TYPE.setChunkSize,
        random.pick([0, 1, 2, 127, 65_536, 0x100000, 0x100001, 0x7fffffff, 0xffffffff]),
      ),
    ),
  (pieces, at, random) =>
    void pieces.splice(
      at,
      0,
      control(
        random.pick([
          TYPE.abort,
          TYPE.acknowledgement,
          TYPE.userControl,
          TYPE.windowSize,
          TYPE.peerBandwidth,
        ]),
        random.pick([0, 1, 2, 3, 4, 6, 0xffffffff]),
      ),
    ),
  (pieces, at, random) => void pieces.splice(at, 0, rawCommand(random.between(0, 1), random.pick(AMF_BOMBS))),
  (pieces, at, random) =>
    void pieces.splice(
      at,
      0,
      mediaOf(TYPE.metadata, 0, Buffer.concat([encodeAmf('onMetaData'), random.pick(AMF_BOMBS)])),
    ),
  (pieces, at, random) => {
    const name = random.pick([
      'connect',
      'createStream',
      'publish',
      'FCUnpublish',
      'deleteStream',
      'closeStream',
      'play',
      '__proto__',
      '',
    ])
    const values: Amf[] = [
      null,
      undefined,
      'live_1_key',
      random.next(),
      Number.NaN,
      true,
      [],
      new Map([['app', 5]]),
      '\0'.repeat(3),
    ]
    pieces.splice(
      at,
      0,
      commandOf(
        random.between(0, 3),
        name,
        ...Array.from({ length: random.between(0, 4) }, () => values[random.between(0, values.length - 1)]),
      ),
    )
  },
  (pieces, at, random) => {
    const message: Message = {
      type: random.between(0, 255),
      streamId: random.between(0, 9),
      timestamp: random.pick([0, 0xfffffe, 0xffffff, 0x1000000, 0xffffffff]),
      payload: Buffer.alloc(random.between(0, 300), random.between(0, 255)),
    }
    pieces.splice(at, 0, writeChunks(random.between(2, 63), message, random.pick([1, 128, CHUNK_BYTES])))
  },
]

const RECORDED: readonly Buffer[] = conversation()

/** A conversation with one to five mutations. Most keep the handshake, because what follows it is more interesting. */
export function mutatedConversation(random: SeededRandom): Buffer {
  const pieces = [...RECORDED]
  for (let count = random.between(1, 5); count > 0 && pieces.length > 1; count--) {
    const first = random.next() < 0.95 ? 1 : 0
    random.pick(MUTATIONS)(pieces, random.between(first, pieces.length - 1), random)
  }
  return Buffer.concat(pieces)
}

/** The bytes whole or in pieces of random sizes, of which tiny ones are rare because they take long. */
export function* split(bytes: Buffer, random: SeededRandom): Generator<Buffer> {
  const [whole, large, small] = [0.4, 0.9, 0.99]
  const kind = random.next()
  const most = kind < whole ? 0 : kind < large ? 4096 : kind < small ? 200 : 20
  for (let at = 0; at < bytes.length; ) {
    const end = most === 0 ? bytes.length : at + random.between(1, most)
    yield bytes.subarray(at, end)
    at = end
  }
}
