/**
 * A viewer that is cheap: one socket on which bytes are counted and tags are followed, without keeping any of them. A tag
 * that does not continue those before it is a dropped one.
 */
import type { Socket } from 'bun'
import { inTime } from '../../src/kit/in-time.ts'
import { TAG_HEADER_BYTES } from '../../src/media/flv.ts'
import { type Kind, MAX_HEADER_BYTES, numberAt } from './synthetic.ts'

const FILE_HEADER_BYTES = 13
const SIZE_OF_TAG_BEFORE = 4
const KINDS: ReadonlyMap<number, Kind> = new Map([
  [8, 'audio'],
  [9, 'video'],
])
const MAX_WAIT_MILLISECONDS = 10_000
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13]

export class Watcher {
  bytes = 0
  dropped = 0
  frames = 0
  isClosed = false
  readonly #onFrame: (n: number) => void
  readonly #first = Promise.withResolvers<number>()
  #socket: Socket | undefined
  /** How much of the empty line after the HTTP headers was seen. */
  #blank = 0
  /** What is left of the chunk, and the length line before the next one. */
  #chunk = 0
  #length = ''
  #skip = FILE_HEADER_BYTES
  readonly #header = Buffer.alloc(TAG_HEADER_BYTES)
  #headerBytes = 0
  readonly #last: Partial<Record<Kind, number>> = {}

  private constructor(onFrame: (n: number) => void) {
    this.#onFrame = onFrame
  }

  static async open(url: URL, onFrame: (n: number) => void): Promise<Watcher> {
    const watcher = new Watcher(onFrame)
    watcher.#socket = await Bun.connect({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        open: socket => void socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`),
        data: (_, bytes) => watcher.#take(bytes),
        close: () => {
          watcher.isClosed = true
        },
      },
    })
    return watcher
  }

  /** The time of its first frame. */
  firstFrame(): Promise<number> {
    return inTime(MAX_WAIT_MILLISECONDS, this.#first.promise, () => {
      throw new Error('a viewer got no frame')
    })
  }

  close(): void {
    this.#socket?.end()
  }

  #take(bytes: Uint8Array): void {
    this.bytes += bytes.length
    let at = 0
    for (; at < bytes.length && this.#blank < 4; at++) {
      const expected = this.#blank % 2 === 0 ? CARRIAGE_RETURN : LINE_FEED
      this.#blank = bytes[at] === expected ? this.#blank + 1 : 0
    }
    while (at < bytes.length) {
      if (this.#chunk === 0) {
        this.#readLength(bytes[at++] ?? 0)
        continue
      }
      const end = Math.min(bytes.length, at + this.#chunk)
      this.#chunk -= end - at
      this.#follow(bytes, at, end)
      at = end
    }
  }

  /** Lines before a chunk: the end of the chunk before, and the length. */
  #readLength(byte: number): void {
    if (byte === CARRIAGE_RETURN) return
    if (byte !== LINE_FEED) this.#length += String.fromCharCode(byte)
    else if (this.#length !== '') {
      this.#chunk = Number.parseInt(this.#length, 16)
      this.#length = ''
    }
  }

  #follow(bytes: Uint8Array, from: number, end: number): void {
    for (let at = from; at < end; ) {
      if (this.#skip > 0) {
        const size = Math.min(this.#skip, end - at)
        this.#skip -= size
        at += size
        continue
      }
      this.#header[this.#headerBytes++] = bytes[at++] ?? 0
      if (this.#headerBytes === TAG_HEADER_BYTES) this.#readTag()
    }
  }

  #readTag(): void {
    this.#headerBytes = 0
    const size = this.#header.readUIntBE(1, 3)
    this.#skip = size + SIZE_OF_TAG_BEFORE
    const kind = KINDS.get(this.#header.readUInt8(0))
    if (kind === undefined || size <= MAX_HEADER_BYTES) return
    const n = numberAt(kind, this.#header.readUIntBE(4, 3) + this.#header.readUInt8(7) * 2 ** 24)
    const last = this.#last[kind]
    // Duplicates count as well.
    if (last !== undefined && n !== last + 1) this.dropped += Math.max(1, n - last - 1)
    this.#last[kind] = n
    if (kind === 'audio') return
    if (this.frames === 0) this.#first.resolve(performance.now())
    this.frames += 1
    this.#onFrame(n)
  }
}
