/**
 * The chunk stream of RTMP: bytes to messages, and back.
 *
 * An encoder sends audio, video and commands over one connection. A large video frame must not delay audio, so RTMP cuts
 * messages into chunks, and chunks of different messages may alternate. Each belongs to a chunk stream, which has at most
 * one message in progress. To save bytes, a header leaves out what the previous message of its chunk stream had:
 *
 *     chunk = basic header (format, chunk stream id) + message header + extended timestamp? + data
 *
 * | Format | Message header | Contains |
 * |---|---|---|
 * | 0 | 11 bytes | absolute timestamp, length, type, stream id |
 * | 1 | 7 bytes | timestamp delta, length, type |
 * | 2 | 3 bytes | timestamp delta |
 * | 3 | none | nothing: it continues a message, or starts one with the previous header |
 *
 * `ChunkReader` alternates between two states: it waits for a complete header, or receives the data of a chunk. The data
 * of a chunk ends after the chunk size, or with the message.
 *
 *     push(bytes) --> header complete? --> data --> chunk complete --> message complete? --> Message
 *           ^              no: keep the bytes          '-- next header        no: next header
 *
 * The other side is a stranger, so everything that it can make the reader keep is bounded. What must hold:
 * - The messages are the same, however the bytes are split between calls of `push`.
 * - A buffer grows with the bytes that have arrived, not with the length that a header announces.
 * - A message has at most 4 MiB, the unfinished ones of a connection 8 MiB, a connection 64 chunk streams.
 * - Inside a message only format 3 is allowed, and the first chunk of a chunk stream has format 0. Anything else is a
 *   `ProtocolError`, after which the reader must not be used.
 * - Messages that set the chunk size or abort a message apply to the bytes after them. They are not returned.
 */
import { ProtocolError } from './protocol-error.ts'

export interface Message {
  readonly type: number
  readonly streamId: number
  /** Milliseconds, modulo 2^32. */
  readonly timestamp: number
  readonly payload: Uint8Array
}

export const TYPE = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowSize: 5,
  peerBandwidth: 6,
  audio: 8,
  video: 9,
  metadata: 18,
  command: 20,
} as const

const DEFAULT_CHUNK_BYTES = 128
const MAX_CHUNK_BYTES = 1024 * 1024
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** Maximum bytes of unfinished messages of one connection. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024
const MAX_CHUNK_STREAMS = 64
/** Room for the start of a message; it grows as the message arrives, so that headers alone reserve little. */
const FIRST_BYTES = 4096
/** By so much: what is copied and thrown away is a third of a message. */
const GROWTH = 4
const EXTENDED = 0xffffff
const NO_BYTES = new Uint8Array(0)

/** The last header of a chunk stream, and its message in progress. */
interface ChunkStream {
  type: number
  streamId: number
  length: number
  timestamp: number
  delta: number
  /** The value of the extended timestamp, if the last header had one. */
  extended: number | undefined
  /** The start of the message. One buffer and not a list of pieces, which for pieces of a byte would be a hundred times as large. */
  payload: Uint8Array
  received: number
}

export class ChunkReader {
  readonly #streams = new Map<number, ChunkStream>()
  #chunkBytes = DEFAULT_CHUNK_BYTES
  /** The start of an incomplete header. */
  #rest: Uint8Array = NO_BYTES
  /** The chunk whose data is being received. */
  #chunk: { readonly stream: ChunkStream; remaining: number } | undefined
  #pending = 0

  /** The messages that these bytes complete. */
  push(bytes: Uint8Array): Message[] {
    const input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
    const messages: Message[] = []
    let at = 0
    for (;;) {
      if (this.#chunk !== undefined) at = this.#readData(this.#chunk, input, at, messages)
      if (this.#chunk !== undefined) break
      const end = this.#readHeader(input, view, at)
      if (end === undefined) break
      at = end
    }
    // A copy, so that the rest does not keep the whole input in memory: `slice` of a Buffer would.
    this.#rest = at === input.length ? NO_BYTES : new Uint8Array(input.subarray(at))
    return messages
  }

  /** Starts the chunk at this position; undefined if its header is not complete. */
  #readHeader(input: Uint8Array, view: DataView, at: number): number | undefined {
    const basic = readBasicHeader(input, at)
    if (basic === undefined) return undefined
    const { format, id } = basic
    const known = this.#streams.get(id)
    if (known === undefined && format !== 0) throw new ProtocolError('the first chunk has no full header')
    const header = readMessageHeader(view, basic.end, format, known)
    if (header === undefined) return undefined
    const stream = known ?? this.#open(id)
    if (stream.received === 0) begin(stream, header, format)
    else if (format !== 3) throw new ProtocolError('a header inside a message')
    this.#chunk = { stream, remaining: Math.min(this.#chunkBytes, stream.length - stream.received) }
    return header.end
  }

  #readData(
    chunk: { readonly stream: ChunkStream; remaining: number },
    input: Uint8Array,
    at: number,
    messages: Message[],
  ): number {
    const { stream } = chunk
    const end = Math.min(at + chunk.remaining, input.length)
    const size = end - at
    if (size > 0) {
      this.#pending += size
      if (this.#pending > MAX_PENDING_BYTES) throw new ProtocolError('too many unfinished messages')
      makeRoom(stream, stream.received + size)
      stream.payload.set(input.subarray(at, end), stream.received)
      stream.received += size
      chunk.remaining -= size
    }
    if (chunk.remaining > 0) return end
    this.#chunk = undefined
    if (stream.received === stream.length) this.#finish(stream, messages)
    return end
  }

  #open(id: number): ChunkStream {
    if (this.#streams.size === MAX_CHUNK_STREAMS) throw new ProtocolError('too many chunk streams')
    const stream: ChunkStream = {
      type: 0,
      streamId: 0,
      length: 0,
      timestamp: 0,
      delta: 0,
      extended: undefined,
      payload: NO_BYTES,
      received: 0,
    }
    this.#streams.set(id, stream)
    return stream
  }

  #finish(stream: ChunkStream, messages: Message[]): void {
    const { type, streamId, timestamp, payload } = stream
    this.#drop(stream)
    if (type === TYPE.setChunkSize) this.#chunkBytes = readChunkSize(payload)
    else if (type === TYPE.abort) {
      const aborted = this.#streams.get(readUint32(payload))
      if (aborted !== undefined) this.#drop(aborted)
    } else messages.push({ type, streamId, timestamp, payload })
  }

  #drop(stream: ChunkStream): void {
    this.#pending -= stream.received
    stream.received = 0
    stream.payload = NO_BYTES
  }
}

/** Makes the buffer large enough, but never larger than the message: the buffer of a complete message is its payload. */
function makeRoom(stream: ChunkStream, bytes: number): void {
  const { payload, received, length } = stream
  if (bytes <= payload.length) return
  const grown = Buffer.allocUnsafeSlow(
    Math.min(length, Math.max(bytes, GROWTH * payload.length, FIRST_BYTES)),
  )
  grown.set(payload.subarray(0, received))
  stream.payload = grown
}

function readChunkSize(payload: Uint8Array): number {
  const size = readUint32(payload)
  if (size < 1 || size > MAX_CHUNK_BYTES) throw new ProtocolError('chunk size out of range')
  return size
}

/** The number in a control message. */
export function readUint32(payload: Uint8Array): number {
  if (payload.length < 4) throw new ProtocolError('control message too short')
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(0)
}

function readBasicHeader(input: Uint8Array, at: number) {
  const first = input[at]
  if (first === undefined) return undefined
  const format = first >> 6
  const short = first & 63
  if (short > 1) return { format, id: short, end: at + 1 }
  const low = input[at + 1]
  if (low === undefined) return undefined
  if (short === 0) return { format, id: 64 + low, end: at + 2 }
  const high = input[at + 2]
  return high === undefined ? undefined : { format, id: 64 + low + high * 256, end: at + 3 }
}

interface Header {
  readonly time: number
  readonly extended: number | undefined
  readonly length: number
  readonly type: number
  readonly streamId: number
  readonly end: number
}

const HEADER_BYTES = [11, 7, 3, 0] as const

function readMessageHeader(
  view: DataView,
  at: number,
  format: number,
  known: ChunkStream | undefined,
): Header | undefined {
  const end = at + (HEADER_BYTES[format] ?? 0)
  if (end > view.byteLength) return undefined
  if (format === 3) return repeatedHeader(view, at, known)
  const short = readUint24(view, at)
  const length = format === 2 ? (known?.length ?? 0) : readUint24(view, at + 3)
  if (length > MAX_MESSAGE_BYTES) throw new ProtocolError('message too long')
  const type = format === 2 ? (known?.type ?? 0) : view.getUint8(at + 6)
  const streamId = format === 0 ? view.getUint32(at + 7, true) : (known?.streamId ?? 0)
  if (short < EXTENDED) return { time: short, extended: undefined, length, type, streamId, end }
  if (end + 4 > view.byteLength) return undefined
  const time = view.getUint32(end)
  return { time, extended: time, length, type, streamId, end: end + 4 }
}

/** A chunk without a header repeats an extended timestamp; some encoders leave it out, so it is recognized by its value. */
function repeatedHeader(view: DataView, at: number, known: ChunkStream | undefined): Header | undefined {
  const { delta = 0, extended, length = 0, type = 0, streamId = 0 } = known ?? {}
  const header = { time: delta, extended, length, type, streamId }
  if (extended === undefined) return { ...header, end: at }
  if (at + 4 > view.byteLength) return undefined
  return { ...header, end: view.getUint32(at) === extended ? at + 4 : at }
}

function begin(stream: ChunkStream, header: Header, format: number): void {
  stream.type = header.type
  stream.streamId = header.streamId
  stream.length = header.length
  stream.extended = header.extended
  stream.delta = header.time
  stream.timestamp = format === 0 ? header.time : (stream.timestamp + header.time) >>> 0
}

const readUint24 = (view: DataView, at: number): number => view.getUint16(at) * 256 + view.getUint8(at + 2)

/** A message as chunks of this size, each with a full or an empty header. */
export function writeChunks(chunkStream: number, message: Message, chunkBytes: number): Buffer {
  const { type, streamId, timestamp, payload } = message
  const isExtended = timestamp >= EXTENDED
  const head = Buffer.alloc(12)
  head.writeUInt8(chunkStream, 0)
  head.writeUIntBE(isExtended ? EXTENDED : timestamp, 1, 3)
  head.writeUIntBE(payload.length, 4, 3)
  head.writeUInt8(type, 7)
  head.writeUInt32LE(streamId, 8)
  const time = Buffer.alloc(isExtended ? 4 : 0)
  if (isExtended) time.writeUInt32BE(timestamp, 0)
  const pieces: Uint8Array[] = [head, time]
  for (let at = 0; at < payload.length; at += chunkBytes) {
    if (at > 0) pieces.push(Buffer.from([0xc0 | chunkStream]), time)
    pieces.push(payload.subarray(at, at + chunkBytes))
  }
  return Buffer.concat(pieces)
}
