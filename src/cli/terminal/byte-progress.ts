import { Progress } from './progress.ts'

const MEGABYTE = 1e6
const KILOBYTE = 1e3

/** Progress in megabytes, or kilobytes where there is less than one, of a total that is known when the work has begun. */
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

  /** Called when all of it is done. */
  end(): void {
    this.#progress?.reach(this.#total)
    this.#progress?.end()
  }
}
