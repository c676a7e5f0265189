/** Answers requests that take too long with 503, before the idle timeout of their connection closes it without an answer. */
import type { Refusal } from '../../contract/problem.ts'
import { Unavailable } from '../../store/errors.ts'
import type { RequestContext } from '../request-context.ts'

/** Shorter than the idle timeout of `listen.ts`, by more than a sweep. */
const MAX_MILLISECONDS = 10_000
const SWEEP_MILLISECONDS = 500

interface Waiting {
  readonly context: RequestContext
  reject(error: Unavailable): void
}

export class RequestDeadlines {
  readonly #waiting = new Set<Waiting>()
  #sweeping: Timer | undefined

  /** The answer, or `Unavailable` after the deadline. The work is not cancelled; its answer is dropped. */
  limit(context: RequestContext, answer: Promise<Response | Refusal>): Promise<Response | Refusal> {
    return new Promise((resolve, reject) => {
      const waiting = { context, reject }
      this.#waiting.add(waiting)
      this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MILLISECONDS)
      answer.then(
        known => {
          if (this.#waiting.delete(waiting)) resolve(known)
          else if (known instanceof Response) void known.body?.cancel()
        },
        error => {
          this.#waiting.delete(waiting)
          reject(error)
        },
      )
    })
  }

  #sweep(): void {
    const latest = performance.now() - MAX_MILLISECONDS
    for (const waiting of this.#waiting) {
      const { context } = waiting
      if (context.isHeldOpen || context.waitsSince > latest) continue
      this.#waiting.delete(waiting)
      waiting.reject(new Unavailable(`the request took longer than ${MAX_MILLISECONDS / 1000} s`))
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}
