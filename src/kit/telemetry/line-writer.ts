import type { Metrics } from './metrics.ts'

interface LineSink {
  /** Always accepts the text. False if it is buffered; `drain` is emitted when the buffer is empty. */
  write(text: string): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** A few thousand lines: enough for a reader that pauses, and small compared with the server's memory. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

/**
 * Writes log lines to a reader that may stall. The stream would buffer everything that the reader does not consume; here the
 * buffer is bounded, and lines beyond it are dropped and counted. When the reader resumes, it gets the buffered lines and
 * then one line with the number of dropped lines.
 */
export class LineWriter {
  readonly #sink: LineSink
  readonly #lost: (count: number) => string
  #isStalled = false
  #waiting: string[] = []
  #waitingCharacters = 0
  #droppedNow = 0
  #dropped = 0
  #onFlowing: (() => void)[] = []

  /** `lost` formats the line with the number of dropped lines. */
  constructor(sink: LineSink, lost: (count: number) => string) {
    this.#sink = sink
    this.#lost = lost
  }

  write(line: string): void {
    if (!this.#isStalled) this.#pass(line)
    else if (this.#waitingCharacters + line.length > MAX_WAITING_CHARACTERS) {
      this.#droppedNow += 1
      this.#dropped += 1
    } else {
      this.#waiting.push(line)
      this.#waitingCharacters += line.length
    }
  }

  /** Waits until everything is written, at most this long. */
  async flush(milliseconds: number): Promise<void> {
    if (!this.#isStalled) return
    const flowing = new Promise<void>(resolve => this.#onFlowing.push(resolve))
    await Promise.race([flowing, Bun.sleep(milliseconds)])
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_log_lines_dropped_total',
      'Log lines dropped because the reader of standard error stalled.',
      this.#dropped,
    )
  }

  #pass(text: string): void {
    if (this.#sink.write(text)) return
    this.#isStalled = true
    this.#sink.once('drain', () => this.#resume())
  }

  #resume(): void {
    this.#isStalled = false
    const lines = this.#waiting
    const lost = this.#droppedNow
    this.#waiting = []
    this.#waitingCharacters = 0
    this.#droppedNow = 0
    if (lost > 0) lines.push(this.#lost(lost))
    if (lines.length > 0) this.#pass(lines.join(''))
    if (this.#isStalled) return
    for (const resolve of this.#onFlowing.splice(0)) resolve()
  }
}
