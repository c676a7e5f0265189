/** The side of RTMP that a publisher talks to: handshake, connect, createStream, publish, then audio and video. */
import { type Amf, decodeAmf, encodeAmf } from './amf0.ts'
import { ChunkReader, type Message, readUint32, TYPE, writeChunks } from './chunks.ts'
import { Handshake } from './handshake.ts'
import { ProtocolError } from './protocol-error.ts'

const CHUNK_BYTES = 4096
const WINDOW_BYTES = 2_500_000
const MIN_WINDOW_BYTES = 65_536
/** Maximum bytes of a connection that does not publish. Encoders send about 4 KB until they may. */
const MAX_WAITING_BYTES = 256 * 1024
/** The id of the only stream that a connection may create. */
const STREAM_ID = 1
const CONTROL = 2
const COMMAND = 3
const STATUS = 5

/** What a publisher asks for. The name is the key, or a login with the key in the query. */
export interface PublishRequest {
  readonly app: string
  readonly name: string
}

export interface MediaMessage {
  readonly kind: 'audio' | 'video' | 'metadata'
  /** Milliseconds, modulo 2^32. */
  readonly timestamp: number
  readonly payload: Uint8Array
}

export interface PublisherEvents {
  send(bytes: Uint8Array): void
  /** Answered by `accept` or `refuse`. Media before the answer is ignored. */
  publish(request: PublishRequest): void
  media(message: MediaMessage): void
  /** The publisher stopped; the connection stays open. */
  stop(): void
}

const STOPS: ReadonlySet<string> = new Set(['FCUnpublish', 'deleteStream', 'closeStream'])

const MEDIA: ReadonlyMap<number, MediaMessage['kind']> = new Map([
  [TYPE.audio, 'audio'],
  [TYPE.video, 'video'],
  [TYPE.metadata, 'metadata'],
])

/** One connection, without the socket: bytes in, events out. Throws `ProtocolError` where the connection must be closed. */
export class Publisher {
  readonly #events: PublisherEvents
  readonly #chunks = new ChunkReader()
  #handshake: Handshake | undefined
  #app: string | undefined
  #state: 'idle' | 'asked' | 'publishing' = 'idle'
  #windowBytes = WINDOW_BYTES
  #received = 0
  #acknowledged = 0
  /** Bytes received since the connection was opened or stopped publishing. */
  #waitingBytes = 0

  /** @param random 1528 bytes */
  constructor(events: PublisherEvents, random: Uint8Array) {
    this.#events = events
    this.#handshake = new Handshake(random)
  }

  /** Returns the number of messages that these bytes complete. */
  receive(bytes: Uint8Array): number {
    if (this.#state !== 'publishing') this.#wait(bytes.length)
    this.#acknowledge(bytes.length)
    if (this.#handshake === undefined) return this.#read(bytes)
    const { reply, rest } = this.#handshake.push(bytes)
    if (reply !== undefined) this.#events.send(reply)
    if (rest === undefined) return 0
    this.#handshake = undefined
    return this.#read(rest)
  }

  accept(): void {
    if (this.#state !== 'asked') return
    this.#state = 'publishing'
    this.#status('status', 'NetStream.Publish.Start', 'publishing')
  }

  refuse(reason = 'the stream key is not valid'): void {
    this.#state = 'idle'
    this.#status('error', 'NetStream.Publish.BadName', reason)
  }

  /** A connection that may not publish cannot make the server keep or parse much. */
  #wait(bytes: number): void {
    this.#waitingBytes += bytes
    if (this.#waitingBytes > MAX_WAITING_BYTES) throw new ProtocolError('too many bytes without publishing')
  }

  #read(bytes: Uint8Array): number {
    const messages = this.#chunks.push(bytes)
    for (const message of messages) this.#handle(message)
    return messages.length
  }

  #handle({ type, timestamp, payload }: Message): void {
    const kind = MEDIA.get(type)
    if (kind !== undefined) {
      // Messages without content mean nothing, and their headers would be most of a recording.
      if (this.#state === 'publishing' && payload.length > 0)
        this.#events.media({
          kind,
          timestamp,
          payload: kind === 'metadata' ? withoutSetter(payload) : payload,
        })
    } else if (type === TYPE.command) this.#command(decodeAmf(payload))
    else if (type === TYPE.windowSize) this.#windowBytes = Math.max(readUint32(payload), MIN_WINDOW_BYTES)
  }

  #command([name, transaction, ...values]: readonly Amf[]): void {
    if (typeof name !== 'string' || typeof transaction !== 'number')
      throw new ProtocolError('command without name and transaction')
    if (name === 'connect') this.#connect(transaction, values[0])
    else if (name === 'createStream') this.#result(transaction, null, STREAM_ID)
    else if (name === 'publish') this.#publish(values[1])
    else if (STOPS.has(name)) this.#stop()
    else if (name.startsWith('play')) throw new ProtocolError('playback is not offered over RTMP')
  }

  #connect(transaction: number, properties: Amf): void {
    if (this.#app !== undefined) throw new ProtocolError('connected twice')
    const app = properties instanceof Map ? properties.get('app') : undefined
    this.#app = typeof app === 'string' ? app : ''
    this.#control(TYPE.windowSize, uint32(WINDOW_BYTES))
    // 2: the peer decides how to apply it.
    this.#control(TYPE.peerBandwidth, Buffer.concat([uint32(WINDOW_BYTES), Buffer.from([2])]))
    this.#control(TYPE.setChunkSize, uint32(CHUNK_BYTES))
    const server = new Map<string, Amf>([
      ['fmsVer', 'FMS/3,0,1,123'],
      ['capabilities', 31],
    ])
    const information = new Map<string, Amf>([
      ['level', 'status'],
      ['code', 'NetConnection.Connect.Success'],
      ['description', 'connected'],
      ['objectEncoding', 0],
    ])
    this.#result(transaction, server, information)
  }

  #publish(name: Amf): void {
    if (this.#app === undefined) throw new ProtocolError('publish before connect')
    if (this.#state !== 'idle') throw new ProtocolError('published twice')
    if (typeof name !== 'string') throw new ProtocolError('publish without a name')
    this.#state = 'asked'
    this.#events.publish({ app: this.#app, name })
  }

  #stop(): void {
    if (this.#state === 'idle') return
    // The answer would belong to the next request, and could be that of another key.
    if (this.#state === 'asked') throw new ProtocolError('stopped before the answer')
    this.#state = 'idle'
    this.#waitingBytes = 0
    this.#events.stop()
  }

  #result(transaction: number, ...values: readonly Amf[]): void {
    this.#send(COMMAND, 0, TYPE.command, encodeAmf('_result', transaction, ...values))
  }

  #status(level: string, code: string, description: string): void {
    const information = new Map<string, Amf>([
      ['level', level],
      ['code', code],
      ['description', description],
    ])
    this.#send(STATUS, STREAM_ID, TYPE.command, encodeAmf('onStatus', 0, null, information))
  }

  /** Reports received bytes as often as the peer wants to know. */
  #acknowledge(bytes: number): void {
    this.#received += bytes
    if (this.#handshake !== undefined || this.#received - this.#acknowledged < this.#windowBytes) return
    this.#acknowledged = this.#received
    this.#control(TYPE.acknowledgement, uint32(this.#received >>> 0))
  }

  #control(type: number, payload: Buffer): void {
    this.#send(CONTROL, 0, type, payload)
  }

  #send(chunkStream: number, streamId: number, type: number, payload: Uint8Array): void {
    this.#events.send(writeChunks(chunkStream, { type, streamId, timestamp: 0, payload }, CHUNK_BYTES))
  }
}

const SET_DATA_FRAME = encodeAmf('@setDataFrame')

/** Metadata as files contain it: encoders put the name of a function in front. */
function withoutSetter(payload: Uint8Array): Uint8Array {
  const start = payload.subarray(0, SET_DATA_FRAME.length)
  return SET_DATA_FRAME.equals(start) ? payload.subarray(SET_DATA_FRAME.length) : payload
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
