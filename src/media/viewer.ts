import type { Viewer } from './broadcast.ts'

/** Maximum bytes that wait for a viewer. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

/** A viewer over HTTP. What arrives while the connection is busy is sent together; what is too much is skipped. */
export class HttpViewer implements Viewer {
  readonly stream: ReadableStream<Uint8Array>
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #wanted: (() => void) | undefined
  #isEnded = false

  constructor(onLeave: () => void) {
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
        cancel: onLeave,
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
    this.#isEnded = true
    this.#wake()
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
