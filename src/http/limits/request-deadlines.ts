/** Answers requests that take too long with 503, before the idle timeout of their connection closes it without an answer. */
import type { Refusal } from '../../contract/problem.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { Unavailable } from '../../store/errors.ts'
import type { RequestContext } from '../request-context.ts'

/** Shorter than the idle timeout of `listen.ts`, by more than a sweep. */
const MAX_MILLISECONDS = 10_000
const SWEEP_MILLISECONDS = 500

interface Waiting {
  readonly context: RequestContext
  /** Its index in the list; -1 when it has been answered. */
  place: number
  expire(error: Unavailable): void
}

export class RequestDeadlines {
  /** In no order. A list, because to add to a set and to delete from it took a tenth of a short read. */
  readonly #waiting: Waiting[] = []
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
        if (!this.#remove(waiting)) return false
        try {
          resolve(respond(outcome))
        } catch (error) {
          reject(error)
        }
        return true
      }
      const waiting: Waiting = {
        context,
        place: this.#waiting.length,
        expire: error => void end(fail, error),
      }
      this.#waiting.push(waiting)
      this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MILLISECONDS)
      answer.then(
        known => {
          if (!end(conclude, known) && known instanceof Response) void known.body?.cancel()
        },
        error => end(fail, error),
      )
    })
  }

  /** False: it was removed before. The last one takes its place. */
  #remove(waiting: Waiting): boolean {
    const { place } = waiting
    if (place < 0) return false
    const last = assertDefined(this.#waiting.pop(), 'a request that waits')
    if (last !== waiting) this.#waiting[place] = last
    last.place = place
    waiting.place = -1
    return true
  }

  #sweep(): void {
    const latest = performance.now() - MAX_MILLISECONDS
    // Of a copy: those that expire leave the list.
    for (const waiting of this.#waiting.slice()) {
      const { context } = waiting
      if (context.isHeldOpen || context.waitsSince > latest) continue
      waiting.expire(new Unavailable(`the request took longer than ${MAX_MILLISECONDS / 1000} s`))
    }
    if (this.#waiting.length > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}
