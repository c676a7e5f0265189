import { Progress } from './progress.ts'

/** Progress in megabytes, of a total that is known when the work has begun. */
export class ByteProgress {
  readonly #what: string
  #progress: Progress | undefined

  constructor(what: string) {
    this.#what = what
  }

  reach(bytes: number, of: number): void {
    this.#progress ??= new Progress(this.#what, { unit: 'MB', total: Math.ceil(of / 1e6) })
    this.#progress.reach(bytes / 1e6)
  }

  end(): void {
    this.#progress?.end()
  }
}
