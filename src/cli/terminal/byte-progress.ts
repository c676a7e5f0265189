import { Progress, type ProgressOptions } from './progress.ts'

const UNITS = [
  { unit: 'MB', bytes: 1e6 },
  { unit: 'kB', bytes: 1e3 },
  { unit: 'bytes', bytes: 1 },
] as const
type Unit = (typeof UNITS)[number]

/** Progress in MB, or less where that would be 0. The total is not known before the first `reach`, and may stay unknown. */
export class ByteProgress {
  readonly #what: string
  readonly #options: Pick<ProgressOptions, 'out' | 'now'>
  readonly #began: number
  #progress: Progress | undefined
  #unit: Unit | undefined
  #end = 0

  constructor(what: string, options: Pick<ProgressOptions, 'out' | 'now'> = {}) {
    this.#what = what
    this.#options = options
    this.#began = options.now?.() ?? performance.now()
  }

  reach(bytes: number, of?: number): void {
    const end = of ?? bytes
    const scale = UNITS.find(each => each.bytes <= end) ?? UNITS[2]
    if (this.#progress === undefined || scale !== this.#unit) {
      const total = of === undefined ? undefined : of / scale.bytes
      const { unit } = scale
      this.#progress = new Progress(this.#what, { ...this.#options, unit, total, began: this.#began })
    }
    this.#unit = scale
    this.#end = end / scale.bytes
    this.#progress.reach(bytes / scale.bytes)
  }

  /** Ends the line as it is, after an interruption. */
  leave(): void {
    this.#progress?.leave()
  }

  /** Shows the total as done. */
  end(): void {
    this.#progress?.reach(this.#end)
    this.#progress?.end()
  }
}
