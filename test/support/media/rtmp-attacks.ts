/** What a media server must not put up with, and a broadcast beside it that must not notice. */
import { connect } from 'node:net'
import { encodeAmf } from '../../../src/media/rtmp/amf0.ts'
import { TYPE, writeChunks } from '../../../src/media/rtmp/chunks.ts'
import { AVC } from './codecs.ts'
import { HlsPlayer } from './hls.ts'
import { readMp4 } from './read-mp4.ts'
import { RtmpClient } from './rtmp-client.ts'
import {
  AMF_BOMBS,
  commandOf,
  control,
  conversation,
  HANDSHAKE,
  mediaOf,
  rawCommand,
} from './rtmp-mutations.ts'

const CONNECT = commandOf(0, 'connect', 1, new Map([['app', 'live']]))
const PUBLISH = commandOf(1, 'publish', 3, null, 'live_1_guess', 'live')
const shaken = (...pieces: readonly Uint8Array[]) => Buffer.concat([HANDSHAKE, ...pieces])
const repeated = (bytes: Uint8Array, count: number) =>
  Buffer.concat(Array.from({ length: count }, () => bytes))
const begun = (id: number) =>
  Buffer.concat([Buffer.from([0, id, 0, 0, 0, 0x3f, 0, 0, 9, 1, 0, 0, 0]), Buffer.alloc(128)])

/** Each is answered by closing the connection, long before its deadline. */
export const ATTACKS: Readonly<Record<string, Buffer>> = {
  'an HTTP request': Buffer.from('GET /live HTTP/1.1\r\nHost: media.example\r\n\r\n'),
  'a TLS hello': Buffer.from('16030100f1010000ed0303', 'hex'),
  'an SSH banner': Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'),
  'an unknown RTMP version': Buffer.from([6]),
  'a chunk size of 0': shaken(control(TYPE.setChunkSize, 0)),
  'a chunk size of 2^31 - 1': shaken(control(TYPE.setChunkSize, 2 ** 31 - 1)),
  'a chunk size of 2^31': shaken(control(TYPE.setChunkSize, 2 ** 31)),
  'a control message of three bytes': shaken(
    writeChunks(2, { type: TYPE.windowSize, streamId: 0, timestamp: 0, payload: Buffer.alloc(3) }, 128),
  ),
  'a message of more than 4 MiB': shaken(Buffer.from([3, 0, 0, 0, 0x40, 0, 1, 20, 0, 0, 0, 0])),
  '65 chunk streams': shaken(...Array.from({ length: 65 }, (_, id) => begun(id))),
  'a message without an end': shaken(
    control(TYPE.setChunkSize, 1024 * 1024),
    Buffer.from([3, 0, 0, 0, 0x3f, 0, 0, 20, 0, 0, 0, 0]),
    Buffer.alloc(1024 * 1024),
  ),
  'a message of a byte at a time': shaken(
    control(TYPE.setChunkSize, 1),
    Buffer.from([3, 0, 0, 0, 0x3f, 0, 0, 20, 0, 0, 0, 0, 0]),
    repeated(Buffer.from([0xc3, 0]), 300_000),
  ),
  'a header in a message': shaken(begun(1), begun(1)),
  'a continuation of nothing': shaken(Buffer.from([0xc3, 0])),
  'connect twice': shaken(CONNECT, CONNECT),
  'publish before connect': shaken(PUBLISH),
  'publish twice': shaken(CONNECT, PUBLISH, PUBLISH),
  'a stop before the answer, and another publish': shaken(
    CONNECT,
    PUBLISH,
    commandOf(1, 'FCUnpublish', 4, null),
    PUBLISH,
  ),
  'publish without a name': shaken(CONNECT, commandOf(1, 'publish', 3, null, 7)),
  play: shaken(CONNECT, commandOf(1, 'play', 3, null, 'live_1_guess')),
  'a command without a name': shaken(rawCommand(0, encodeAmf(1, 2))),
  'an empty command': shaken(rawCommand(0, Buffer.alloc(0))),
  'commands whose answers are not read': shaken(
    CONNECT,
    repeated(commandOf(0, 'createStream', 2, null), 20_000),
  ),
  'acknowledgements for every byte': shaken(control(TYPE.windowSize, 1), CONNECT, Buffer.alloc(1024 * 1024)),
  'media before publish': shaken(CONNECT, repeated(mediaOf(TYPE.video, 0, AVC.keyFrame(10_000)), 100)),
  ...Object.fromEntries(
    AMF_BOMBS.map((bomb, index) => [`AMF bomb ${index + 1}`, shaken(rawCommand(0, bomb))]),
  ),
}

/** Each is not enough to publish, so the connection is closed at its deadline. */
export const INCOMPLETE: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  'one byte': Buffer.from([3]),
  'half a handshake': HANDSHAKE.subarray(0, 800),
  'a handshake without its last byte': HANDSHAKE.subarray(0, -1),
  'a handshake': HANDSHAKE,
  connect: shaken(CONNECT),
  'all but publish': Buffer.concat(conversation().slice(0, 7)),
  'audio before publish': shaken(CONNECT, mediaOf(TYPE.audio, 0, Buffer.from([0xaf, 1, 2]))),
}

/** Sends bytes. Resolves with the milliseconds until the server closed the connection. */
export function closedAfter(port: number, bytes: Uint8Array, localAddress = '127.0.0.1'): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const began = performance.now()
  const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
    if (bytes.length > 0) socket.write(bytes)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(performance.now() - began))
  // Without a reader the end is not seen.
  socket.on('data', () => undefined)
  return promise
}

const FRAME_MILLISECONDS = 20
const FRAMES_PER_GROUP = 25
const FEWEST_FRAMES = 50
/** Where the number of a frame is in its bytes: behind the length and the type of its only unit. */
const NUMBER_AT = 5

/** A publisher with a numbered frame every 20 ms, and a viewer who must get every one of them. */
export class Witness {
  readonly #client: RtmpClient
  readonly #timer: ReturnType<typeof setInterval>
  readonly #received: number[] = []
  #sent = 0
  #longestPause = 0
  /** Why the viewer gave up. */
  #failure: unknown

  private constructor(client: RtmpClient) {
    this.#client = client
    client.video(0, AVC.header)
    this.#timer = setInterval(() => this.#send(), FRAME_MILLISECONDS)
  }

  static async start(options: {
    rtmpPort: number
    url: string
    login: string
    key: string
    localAddress?: string
  }): Promise<Witness> {
    const client = await RtmpClient.connect(options.rtmpPort, options.localAddress)
    const code = await client.publish(options.key)
    if (code !== 'NetStream.Publish.Start') throw new Error(`the witness may not publish: ${code}`)
    const witness = new Witness(client)
    const player = await HlsPlayer.open(options.url, options.login)
    void witness.#watch(player).catch((error: unknown) => {
      witness.#failure = error
    })
    return witness
  }

  /** Ends, and gives what the viewer missed: numbers of frames, and the longest time without any. */
  async finish(): Promise<{ missing: number[]; longestPause: number; frames: number }> {
    while (this.#received.length < FEWEST_FRAMES && this.#failure === undefined) await Bun.sleep(10)
    clearInterval(this.#timer)
    if (this.#failure !== undefined) throw this.#failure
    this.#client.close()
    const deadline = performance.now() + 10_000
    while (this.#received.at(-1) !== this.#sent - 1 && performance.now() < deadline) await Bun.sleep(10)
    const [first = 0] = this.#received
    const got = new Set(this.#received)
    const missing = Array.from({ length: this.#sent - first }, (_, index) => first + index).filter(
      each => !got.has(each),
    )
    return { missing, longestPause: this.#longestPause, frames: got.size }
  }

  #send(): void {
    const number = this.#sent++
    const payload = number % FRAMES_PER_GROUP === 0 ? AVC.keyFrame(2000) : AVC.frame(500)
    payload.writeUInt32BE(number, payload.length - 500 + NUMBER_AT)
    this.#client.video(number * FRAME_MILLISECONDS, payload)
  }

  async #watch(player: HlsPlayer): Promise<void> {
    let heard = performance.now()
    for await (const { init, bytes } of player.segments()) {
      const [track] = await readMp4(await player.bytes(init), bytes)
      for (const { data } of track?.samples ?? [])
        this.#received.push(Buffer.from(data).readUInt32BE(data.length - 500 + NUMBER_AT))
      const now = performance.now()
      this.#longestPause = Math.max(this.#longestPause, now - heard)
      heard = now
    }
  }
}
