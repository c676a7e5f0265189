import type { Caller } from '../../domain/caller.ts'

const MAX_ANSWERS = 500
const MAX_AGE_MILLISECONDS = 60_000

/**
 * A cache of responses, dropped when the version of the data behind them changes. They are dropped after a minute in any
 * case, because a cursor in a response is valid for a limited time only.
 */
export class ResponseCache {
  #answers = new CachedResponses()
  #version = -1
  #since = 0

  /** The answers of this version. Answers added after the version has changed are never found. */
  at(version: number, now: number): CachedResponses {
    if (version !== this.#version || now - this.#since > MAX_AGE_MILLISECONDS) {
      this.#answers = new CachedResponses()
      this.#version = version
      this.#since = now
    }
    return this.#answers
  }
}

/** Answers by caller and query string. The first ones are kept; frequent queries are soon among them. */
export class CachedResponses {
  readonly #byCaller = new Map<Caller, Map<string, string | Blob>>()
  #count = 0

  /** A blob, which the runtime sends without copying; created when the answer is first reused. */
  find(caller: Caller, query: string): Blob | undefined {
    const ofCaller = this.#byCaller.get(caller)
    const answer = ofCaller?.get(query)
    if (typeof answer !== 'string') return answer
    const blob = new Blob([answer])
    ofCaller?.set(query, blob)
    return blob
  }

  keep(caller: Caller, query: string, text: string): void {
    if (this.#count >= MAX_ANSWERS) return
    this.#count += 1
    const ofCaller = this.#byCaller.get(caller) ?? new Map<string, string | Blob>()
    this.#byCaller.set(caller, ofCaller.set(query, text))
  }
}
