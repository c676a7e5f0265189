import { Progress } from './progress.ts'

const MEGABYTE = 1e6
const KILOBYTE = 1e3

/** Progress in MB, or in kB if the total is less than 1 MB. The total is not known before the first call of `reach`. */
export class ByteProgress {
  readonly #what: string
  readonly #began = performance.now()
  #progress: Progress | undefined
  #unit = MEGABYTE
  #total = 0

  constructor(what: string) {
    this.#what = what
  }

  reach(bytes: number, of: number): void {
    this.#unit = of < MEGABYTE ? KILOBYTE : MEGABYTE
    this.#total = of / this.#unit
    this.#progress ??= new Progress(this.#what, {
      unit: this.#unit === MEGABYTE ? 'MB' : 'kB',
      total: this.#total,
      began: this.#began,
    })
    this.#progress.reach(bytes / this.#unit)
  }

  /** Ends the line as it is, after an interruption. */
  leave(): void {
    this.#progress?.leave()
  }

  /** Shows the total as done. */
  end(): void {
    this.#progress?.reach(this.#total)
    this.#progress?.end()
  }
}
