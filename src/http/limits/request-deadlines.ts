/** Answers requests that take too long with 503, before the idle timeout of their connection closes it without an answer. */
import type { Refusal } from '../../contract/problem.ts'
import { Unavailable } from '../../store/errors.ts'
import type { RequestContext } from '../request-context.ts'

/** Shorter than the idle timeout of `listen.ts`, by more than a sweep. */
const MAX_MILLISECONDS = 10_000
const SWEEP_MILLISECONDS = 500

interface Waiting {
  readonly context: RequestContext
  expire(error: Unavailable): void
}

export class RequestDeadlines {
  readonly #waiting = new Set<Waiting>()
  #sweeping: Timer | undefined

  /**
   * What becomes of an answer, or of `Unavailable` after the deadline. The work is not cancelled; its answer is dropped.
   * One promise for it all, because short reads spend much of their time on promises.
   */
  limit(
    context: RequestContext,
    answer: Promise<Response | Refusal>,
    conclude: (answer: Response | Refusal) => Response,
    fail: (thrown: unknown) => Response,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const end = <Outcome>(respond: (outcome: Outcome) => Response, outcome: Outcome): boolean => {
        if (!this.#waiting.delete(waiting)) return false
        try {
          resolve(respond(outcome))
        } catch (error) {
          reject(error)
        }
        return true
      }
      const waiting: Waiting = { context, expire: error => void end(fail, error) }
      this.#waiting.add(waiting)
      this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MILLISECONDS)
      answer.then(
        known => {
          if (!end(conclude, known) && known instanceof Response) void known.body?.cancel()
        },
        error => end(fail, error),
      )
    })
  }

  #sweep(): void {
    const latest = performance.now() - MAX_MILLISECONDS
    for (const waiting of this.#waiting) {
      const { context } = waiting
      if (context.isHeldOpen || context.waitsSince > latest) continue
      waiting.expire(new Unavailable(`the request took longer than ${MAX_MILLISECONDS / 1000} s`))
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}
