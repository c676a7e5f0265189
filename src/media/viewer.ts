import type { Viewer } from './broadcast.ts'

/** Maximum bytes that wait for a viewer, unless they were written at once. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

/**
 * A viewer over HTTP. The connection gets the bytes that all viewers share, without a copy. What arrives while it is busy
 * waits, and what is too much is skipped.
 */
export class HttpViewer implements Viewer {
  readonly stream: ReadableStream<Uint8Array>
  readonly #onLeave: () => void
  readonly #sent = Promise.withResolvers<void>()
  #connection: ReadableStreamDirectController | undefined
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #isBusy = false
  #isEnded = false

  /** `onLeave` is called once, when the viewer disconnects or the broadcast ends. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave
    const source: Bun.DirectUnderlyingSource<Uint8Array> = {
      type: 'direct',
      pull: connection => {
        this.#connection = connection
        this.#send()
        return this.#sent.promise
      },
      cancel: () => {
        this.#pending = []
        this.#pendingBytes = 0
        this.#isBusy = false
        this.end()
      },
    }
    // A kind of source that only this runtime has.
    this.stream = new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>)
  }

  write(pieces: readonly Uint8Array[]): boolean {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    // The first write may be larger: a viewer starts with a group of pictures, or continues with one large picture.
    if (this.#pendingBytes > 0 && this.#pendingBytes + size > MAX_PENDING_BYTES) return false
    this.#pending.push(...pieces)
    this.#pendingBytes += size
    this.#send()
    return true
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#send()
    this.#onLeave()
  }

  /** Sends what waits, until the connection is busy. */
  #send(): void {
    const connection = this.#connection
    if (connection === undefined || this.#isBusy) return
    let count = 0
    for (const bytes of this.#pending) {
      count += 1
      this.#pendingBytes -= bytes.length
      const written: number | Promise<number> = connection.write(bytes)
      if (typeof written === 'number') continue
      this.#waitFor(written)
      break
    }
    this.#pending = this.#pending.slice(count)
    connection.flush()
    if (!this.#isEnded || this.#isBusy) return
    this.#connection = undefined
    void connection.end()
    this.#sent.resolve()
  }

  #waitFor(written: Promise<number>): void {
    this.#isBusy = true
    const done = () => {
      this.#isBusy = false
      this.#send()
    }
    written.then(done, done)
  }
}
