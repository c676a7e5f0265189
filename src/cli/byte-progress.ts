import { Progress } from './progress.ts'

/** Progress in megabytes, of a total that is known when the work has begun. */
export class ByteProgress {
  readonly #what: string
  #progress: Progress | undefined
  #total = 0

  constructor(what: string) {
    this.#what = what
  }

  reach(bytes: number, of: number): void {
    this.#total = of / 1e6
    this.#progress ??= new Progress(this.#what, { unit: 'MB', total: this.#total })
    this.#progress.reach(bytes / 1e6)
  }

  /** Called when all of it is done. */
  end(): void {
    this.#progress?.reach(this.#total)
    this.#progress?.end()
  }
}
