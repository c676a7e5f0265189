const REDRAW_MILLISECONDS = 100
const BAR_WIDTH = 24

export interface ProgressOptions {
  /** What is counted, in the plural: `lines`, `MB`. */
  readonly unit: string
  /** How much there is in all; undefined if that cannot be known beforehand. */
  readonly total?: number | undefined
  /** Where it is shown. Nothing is written where nobody sees it. */
  readonly out?: { readonly isTTY?: boolean; write(text: string): unknown }
  readonly now?: () => number
  /** When the work began, if that was before how much there is was known; by the same clock as `now`. */
  readonly began?: number
}

/** Shows on a terminal how far long work has got, how fast it goes and how long it will still take. */
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

  /** Tells how much is done by now, all in all. */
  reach(done: number): void {
    this.#done = done
    const now = this.#now()
    if (this.#out.isTTY !== true || now - this.#shownAt < REDRAW_MILLISECONDS) return
    this.#shownAt = now
    this.#out.write(`\r\x1b[K${this.#line(now)}`)
  }

  /** Shows the end of the work and leaves the line standing. */
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
    const left = rate > 0 ? `${durationOf((total - this.#done) / rate)} left` : 'beginning'
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
