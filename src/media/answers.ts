/**
 * Answers that are being sent from the memory of a broadcast. Their bytes stay in memory until the last of them has been
 * sent, so clients that read slowly, each something else, would keep everything that windows have given up. They are
 * disconnected: nothing that they read is in a playlist any more (D-258).
 */

/** An answer on its way. */
export interface Answer {
  /** Whether the client has not got all of it yet. */
  isAnswering(): boolean
  /** Disconnects the client unless it takes something within so many seconds. */
  holdOpen(seconds: number): void
}

const LOOK_MILLISECONDS = 1000
/** The least that the runtime knows. */
const SOON_SECONDS = 1

export class Answers {
  #sending: { readonly answer: Answer; readonly isKept: () => boolean }[] = []
  #looks: Timer | undefined

  get count(): number {
    return this.#sending.length
  }

  /** @param isKept whether the window still has what is sent */
  add(answer: Answer, isKept: () => boolean): void {
    this.#sending.push({ answer, isKept })
    this.#looks ??= setInterval(() => this.look(), LOOK_MILLISECONDS)
  }

  /** Forgets what has been sent, and disconnects clients that are too far behind. */
  look(): void {
    this.#sending = this.#sending.filter(({ answer }) => answer.isAnswering())
    for (const { answer, isKept } of this.#sending) if (!isKept()) answer.holdOpen(SOON_SECONDS)
    if (this.#sending.length > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }
}
