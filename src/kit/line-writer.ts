import type { Metrics } from './metrics.ts'

/** What the lines are written to: standard error, as far as it is needed here. */
interface LineSink {
  /** Takes the text in any case; false if it could not be passed on at once, and then `drain` is emitted when it was. */
  write(text: string): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** A few thousand lines: enough for a reader that pauses, and little beside what the server takes anyway. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

/**
 * Writes the lines of a log to somebody who may not read them. The stream would keep everything that a stalled reader does
 * not take; here a line waits only while there is room for it, and is dropped and counted otherwise. When the reader goes on,
 * the lines that waited come first and then one that says how many were lost.
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

  /** `lost` makes the line that says how many were lost. */
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

  /** Waits until everything was passed on, but not for a reader that does not read. */
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
    this.#sink.once('drain', () => this.#goOn())
  }

  #goOn(): void {
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
