/** An encoder: publishes what a test gives it over RTMP. */
import { connect, type Socket } from 'node:net'
import { type Amf, decodeAmf, encodeAmf } from '../../../src/media/rtmp/amf0.ts'
import { ChunkReader, TYPE, writeChunks } from '../../../src/media/rtmp/chunks.ts'

const BLOCK = 1536
const CHUNK_BYTES = 4096

export class RtmpClient {
  readonly #socket: Socket
  readonly #chunks = new ChunkReader()
  #received = Buffer.alloc(0)
  #isShaken = false
  #commands: (readonly Amf[])[] = []
  #wake: () => void = () => undefined
  isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      this.#read()
      this.#wake()
    })
    const closed = () => {
      this.isClosed = true
      this.#wake()
    }
    socket.on('close', closed).on('error', closed)
  }

  /** From one of the many addresses of the loopback network. */
  static async connect(port: number, localAddress = '127.0.0.1'): Promise<RtmpClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RtmpClient(socket)
  }

  /** The code of the answer to `publish`; undefined if the connection was closed without one. */
  async publish(name: string): Promise<string | undefined> {
    this.send(Buffer.concat([Buffer.from([3]), Buffer.alloc(BLOCK)]))
    await this.#until(() => this.#received.length >= 1 + 2 * BLOCK || this.isClosed)
    this.send(Buffer.alloc(BLOCK))
    this.#received = this.#received.subarray(1 + 2 * BLOCK)
    this.#isShaken = true
    this.#read()
    const size = Buffer.alloc(4)
    size.writeUInt32BE(CHUNK_BYTES)
    this.send(writeChunks(2, { type: TYPE.setChunkSize, streamId: 0, timestamp: 0, payload: size }, 128))
    this.command(0, 'connect', 1, new Map([['app', 'live']]))
    await this.#answerTo('_result')
    this.command(0, 'createStream', 2, null)
    await this.#answerTo('_result')
    this.command(1, 'publish', 3, null, name, 'live')
    const [, , , information] = (await this.#answerTo('onStatus')) ?? []
    const code = information instanceof Map ? information.get('code') : undefined
    return typeof code === 'string' ? code : undefined
  }

  video(timestamp: number, payload: Uint8Array): void {
    this.send(writeChunks(6, { type: TYPE.video, streamId: 1, timestamp, payload }, CHUNK_BYTES))
  }

  audio(timestamp: number, payload: Uint8Array): void {
    this.send(writeChunks(4, { type: TYPE.audio, streamId: 1, timestamp, payload }, CHUNK_BYTES))
  }

  command(streamId: number, ...values: readonly Amf[]): void {
    const payload = encodeAmf(...values)
    this.send(writeChunks(3, { type: TYPE.command, streamId, timestamp: 0, payload }, CHUNK_BYTES))
  }

  send(bytes: Uint8Array): void {
    if (!this.isClosed) this.#socket.write(bytes)
  }

  /** Written, and not sent yet. */
  get waitingBytes(): number {
    return this.#socket.writableLength
  }

  stopReading(): void {
    this.#socket.pause()
  }

  close(): void {
    this.#socket.destroy()
  }

  closed(): Promise<void> {
    return this.#until(() => this.isClosed)
  }

  async #answerTo(name: string): Promise<readonly Amf[] | undefined> {
    const find = () => this.#commands.find(([each]) => each === name)
    await this.#until(() => find() !== undefined || this.isClosed)
    const found = find()
    this.#commands = this.#commands.filter(each => each !== found)
    return found
  }

  #read(): void {
    if (!this.#isShaken) return
    const messages = this.#chunks.push(this.#received)
    this.#received = Buffer.alloc(0)
    for (const { type, payload } of messages)
      if (type === TYPE.command) this.#commands.push(decodeAmf(payload))
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
  }
}
