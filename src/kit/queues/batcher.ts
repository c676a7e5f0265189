/**
 * Sends questions in batches. While one batch is in flight, new questions wait and form the next: one round trip serves
 * many, and at most one batch is in flight.
 *
 * With bounds, a question that finds the line full or has waited too long is refused and never sent, and a batch that hangs
 * blocks the next one no longer than a question waits.
 */
import { withTimeout } from '../time/with-timeout.ts'

interface BatcherOptions {
  /** When to send the first batch; default: when the code that asks has run, so that what it asks forms one batch. */
  readonly soon?: (send: () => void) => void
  readonly bounds?: Bounds
}

interface Bounds {
  readonly maxWaiting: number
  readonly maxWaitMilliseconds: number
  refusal(): Error
}

interface Asked<Question, Answer> {
  readonly question: Question
  readonly until: number
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class Batcher<Question, Answer> {
  readonly #send: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #largest: number
  readonly #soon: (send: () => void) => void
  readonly #bounds: Bounds | undefined
  readonly #waiting: Asked<Question, Answer>[] = []
  #isSending = false
  #timer: Timer | undefined

  /** `send` returns an answer to each question. If it throws, all of them have failed. */
  constructor(
    send: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    largest: number,
    { soon = queueMicrotask, bounds }: BatcherOptions = {},
  ) {
    this.#send = send
    this.#largest = largest
    this.#soon = soon
    this.#bounds = bounds
  }

  get waiting(): number {
    return this.#waiting.length
  }

  ask(question: Question): Promise<Answer> {
    const { maxWaiting, maxWaitMilliseconds, refusal } = this.#bounds ?? UNBOUNDED
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= maxWaiting) return reject(refusal())
      this.#waiting.push({ question, until: performance.now() + maxWaitMilliseconds, resolve, reject })
      // The first has waited longest, so one timer is enough.
      if (this.#bounds) this.#timer ??= setTimeout(() => this.#refuseLate(), maxWaitMilliseconds)
      if (this.#isSending) return
      this.#isSending = true
      this.#soon(() => void this.#sendAll())
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answered = this.#answer(this.#waiting.splice(0, this.#largest))
      if (this.#bounds === undefined) await answered
      else await withTimeout(this.#bounds.maxWaitMilliseconds, answered, () => undefined)
    }
    this.#isSending = false
  }

  async #answer(batch: readonly Asked<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#send(batch.map(({ question }) => question))
      if (answers.length !== batch.length)
        throw new Error(`${answers.length} answers to ${batch.length} questions`)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #refuseLate(): void {
    const now = performance.now()
    const { refusal } = this.#bounds ?? UNBOUNDED
    while (this.#waiting[0] !== undefined && this.#waiting[0].until <= now)
      this.#waiting.shift()?.reject(refusal())
    const next = this.#waiting[0]?.until
    this.#timer = next === undefined ? undefined : setTimeout(() => this.#refuseLate(), next - now)
  }
}

const UNBOUNDED: Bounds = {
  maxWaiting: Number.POSITIVE_INFINITY,
  maxWaitMilliseconds: Number.POSITIVE_INFINITY,
  refusal: () => new Error('the batcher is full'),
}
