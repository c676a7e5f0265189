const REDRAW_MILLISECONDS = 100
const BAR_WIDTH = 24

export interface ProgressOptions {
  /** What is counted, in the plural: `lines`, `MB`. */
  readonly unit: string
  /** Undefined if unknown. */
  readonly total?: number | undefined
  /** Default: standard error. Nothing is written unless it is a terminal. */
  readonly out?: { readonly isTTY?: boolean; write(text: string): unknown }
  readonly now?: () => number
  /** When the work began, by the clock of `now`. Default: when the object is created. */
  readonly began?: number
}

/** A progress line on a terminal: amount done, rate and estimated time left. */
export class Progress {
  readonly #what: string
  readonly #options: ProgressOptions
  readonly #out: NonNullable<ProgressOptions['out']>
  readonly #now: () => number
  readonly #began: number
  #shownAt = Number.NEGATIVE_INFINITY
  #done = 0

  constructor(what: string, options: ProgressOptions) {
    this.#what = what
    this.#options = options
    this.#out = options.out ?? process.stderr
    this.#now = options.now ?? (() => performance.now())
    this.#began = options.began ?? this.#now()
  }

  get total(): number | undefined {
    return this.#options.total
  }

  /** Sets the amount done so far. */
  reach(done: number): void {
    this.#done = done
    const now = this.#now()
    if (this.#out.isTTY !== true || now - this.#shownAt < REDRAW_MILLISECONDS) return
    this.#shownAt = now
    this.#out.write(`\r\x1b[K${this.#line(now)}`)
  }

  /** Draws the line a last time and ends it with a newline. */
  end(): void {
    if (this.#out.isTTY === true) this.#out.write(`\r\x1b[K${this.#line(this.#now())}\n`)
  }

  #line(now: number): string {
    const { unit, total } = this.#options
    const seconds = (now - this.#began) / 1000
    const rate = seconds > 0 ? this.#done / seconds : 0
    const speed = `${grouped(rate)} ${unit}/s`
    if (total === undefined) return `${this.#what}  ${grouped(this.#done)} ${unit}  ${speed}`
    const part = total === 0 ? 1 : Math.min(1, this.#done / total)
    const filled = Math.round(part * BAR_WIDTH)
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`
    const left = rate > 0 ? `${durationOf((total - this.#done) / rate)} left` : 'starting'
    const percent = String(Math.floor(part * 100)).padStart(3)
    return `${this.#what}  ${bar} ${percent} %  ${grouped(this.#done)} of ${grouped(total)} ${unit}  ${speed}  ${left}`
  }
}

function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** `42 s`, `3 min 20 s`, `1 h 05 min`. */
export function durationOf(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  const pad = (part: number) => String(part).padStart(2, '0')
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`
}
