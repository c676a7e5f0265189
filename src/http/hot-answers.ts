import type { Caller } from '../domain/caller.ts'

const MANY = 500
const MAX_MILLISECONDS = 60_000

/**
 * Answers kept while nothing has changed that they depend on. A version tells: when it moves, all of them are dropped, and
 * after a minute anyway, because a cursor in an answer keeps its promise only so long.
 */
export class HotAnswers {
  #answers = new Answers()
  #version = -1
  #since = 0

  /** The answers of this version. What is kept there after it has moved on is never found again. */
  at(version: number, now: number): Answers {
    if (version !== this.#version || now - this.#since > MAX_MILLISECONDS) {
      this.#answers = new Answers()
      this.#version = version
      this.#since = now
    }
    return this.#answers
  }
}

/** By caller and question. Few are kept; whatever is asked so often that it matters is among them soon enough. */
class Answers {
  readonly #kept = new Map<Caller, Map<string, Kept>>()
  #count = 0

  find(caller: Caller, question: string): Blob | undefined {
    return this.#kept.get(caller)?.get(question)?.blob
  }

  keep(caller: Caller, question: string, text: string): void {
    if (this.#count >= MANY) return
    this.#count += 1
    const ofCaller = this.#kept.get(caller)
    if (ofCaller === undefined) this.#kept.set(caller, new Map([[question, new Kept(text)]]))
    else ofCaller.set(question, new Kept(text))
  }
}

/** Bytes that the runtime sends without copying them, made when the answer is asked for a second time. */
class Kept {
  #body: string | Blob

  constructor(text: string) {
    this.#body = text
  }

  get blob(): Blob {
    if (typeof this.#body === 'string') this.#body = new Blob([this.#body])
    return this.#body
  }
}
