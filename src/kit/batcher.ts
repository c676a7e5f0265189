/**
 * Sends questions in batches. While one batch is in flight, new questions wait and form the next: one round trip serves
 * many, and at most one batch is in flight.
 */
export class Batcher<Question, Answer> {
  readonly #send: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #largest: number
  #waiting: { question: Question; resolve(answer: Answer): void; reject(error: unknown): void }[] = []
  #isSending = false

  constructor(send: (questions: readonly Question[]) => Promise<readonly Answer[]>, largest: number) {
    this.#send = send
    this.#largest = largest
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      // Questions of the same turn of the event loop form one batch.
      if (!this.#isSending) {
        this.#isSending = true
        queueMicrotask(() => void this.#sendAll())
      }
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#largest)
      try {
        const answers = await this.#send(batch.map(each => each.question))
        if (answers.length !== batch.length)
          throw new Error(`${answers.length} answers to ${batch.length} questions`)
        for (const [index, each] of batch.entries()) each.resolve(answers[index] as Answer)
      } catch (error) {
        for (const each of batch) each.reject(error)
      }
    }
    this.#isSending = false
  }
}
