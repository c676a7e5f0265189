/**
 * Answers kept as bytes while nothing has changed that they depend on. A version tells: when it moves, all of them are
 * forgotten, and after a minute anyway, because a cursor in an answer keeps its promise only so long. Few are kept; whatever
 * is asked so often that it matters is among them soon enough.
 */
export class HotAnswers {
  readonly #kept = new Map<string, Uint8Array<ArrayBuffer>>()
  #version = -1
  #since = 0

  find(version: number, question: string): Uint8Array<ArrayBuffer> | undefined {
    const now = performance.now()
    if (version === this.#version && now - this.#since < LONGEST_MILLISECONDS) return this.#kept.get(question)
    this.#version = version
    this.#since = now
    this.#kept.clear()
    return undefined
  }

  /** Keeps an answer that was made while this version held, unless it has moved on. */
  keep(version: number, question: string, text: string): void {
    if (version === this.#version && this.#kept.size < MANY) this.#kept.set(question, ENCODER.encode(text))
  }
}

const MANY = 500
const LONGEST_MILLISECONDS = 60_000
const ENCODER = new TextEncoder()
