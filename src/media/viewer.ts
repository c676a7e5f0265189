import type { Viewer } from './broadcast.ts'

/** Maximum bytes that wait for a viewer. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

/** A viewer over HTTP. What arrives while the connection is busy is sent together; what is too much is skipped. */
export class HttpViewer implements Viewer {
  readonly stream: ReadableStream<Uint8Array>
  readonly #onLeave: () => void
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #wanted: (() => void) | undefined
  #isEnded = false

  /** `onLeave` is called once, when the viewer disconnects or the broadcast ends. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          if (this.#pending.length === 0 && !this.#isEnded)
            await new Promise<void>(resolve => {
              this.#wanted = resolve
            })
          if (this.#pending.length > 0) controller.enqueue(this.#take())
          else controller.close()
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 1 },
    )
  }

  write(bytes: Uint8Array): boolean {
    if (this.#pendingBytes + bytes.length > MAX_PENDING_BYTES) return false
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    this.#wake()
    return true
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#wake()
    this.#onLeave()
  }

  #take(): Uint8Array {
    const [only] = this.#pending
    const bytes = only !== undefined && this.#pending.length === 1 ? only : Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    return bytes
  }

  #wake(): void {
    this.#wanted?.()
    this.#wanted = undefined
  }
}
