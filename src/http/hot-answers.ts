import type { Caller } from '../domain/caller.ts'

const MANY = 500
const MAX_MILLISECONDS = 60_000

/**
 * Answers kept until what they depend on changes. When the version changes, all of them are dropped; after a minute they are
 * dropped anyway, because a cursor in an answer is good for a limited time only.
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

/** By caller and question. Few are kept; questions that are asked often are among them soon. */
class Answers {
  readonly #kept = new Map<Caller, Map<string, string | Blob>>()
  #count = 0

  /** Bytes that the runtime sends without copying them, made when the answer is used for the first time. */
  find(caller: Caller, question: string): Blob | undefined {
    const ofCaller = this.#kept.get(caller)
    const kept = ofCaller?.get(question)
    if (typeof kept !== 'string') return kept
    const blob = new Blob([kept])
    ofCaller?.set(question, blob)
    return blob
  }

  keep(caller: Caller, question: string, text: string): void {
    if (this.#count >= MANY) return
    this.#count += 1
    const ofCaller = this.#kept.get(caller) ?? new Map<string, string | Blob>()
    this.#kept.set(caller, ofCaller.set(question, text))
  }
}
