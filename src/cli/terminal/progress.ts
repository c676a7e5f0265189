import { cut, widthOfTerminal } from './width.ts'

const REDRAW_MILLISECONDS = 100
const WIDEST_BAR = 24
const NARROWEST_BAR = 8

export interface ProgressOptions {
  /** What is counted, in the plural: `lines`, `MB`. */
  readonly unit: string
  /** Undefined if unknown. */
  readonly total?: number | undefined
  /** Default: standard error. Nothing is written unless it is a terminal. */
  readonly out?: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown }
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
    if (now - this.#shownAt < REDRAW_MILLISECONDS) return
    this.#shownAt = now
    this.#draw(now, '')
  }

  /** Draws the line a last time and ends it with a newline. */
  end(): void {
    this.#draw(this.#now(), '\n')
  }

  /** Ends the line as it is, after an interruption. */
  leave(): void {
    if (this.#out.isTTY === true && this.#shownAt > Number.NEGATIVE_INFINITY) this.#out.write('\n')
  }

  #draw(now: number, ending: string): void {
    // The terminal may have been resized since the last time.
    const width = widthOfTerminal(this.#out)
    if (width === undefined) return
    const { unit, total } = this.#options
    const seconds = (now - this.#began) / 1000
    const state = { what: this.#what, done: this.#done, unit, total, seconds }
    // In the last column some terminals wrap, and the next line would not replace this one.
    this.#out.write(`\r\x1b[K${progressLine(state, width - 1)}${ending}`)
  }
}

interface ProgressState {
  readonly what: string
  readonly done: number
  readonly unit: string
  readonly total: number | undefined
  /** Since the work began. */
  readonly seconds: number
}

/** The line for a terminal of this width: with a narrower bar first, then without rate, amount and bar, in this order. */
export function progressLine({ what, done, unit, total, seconds }: ProgressState, width: number): string {
  const rate = seconds > 0 ? done / seconds : 0
  const speed = `${grouped(rate)} ${unit}/s`
  if (total === undefined) {
    return firstFitting(width, [
      `${what}  ${grouped(done)} ${unit}  ${speed}`,
      `${what}  ${grouped(done)} ${unit}`,
    ])
  }
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const percent = `${String(Math.floor(part * 100)).padStart(3)} %`
  const amount = `${grouped(done)} of ${grouped(total)} ${unit}`
  const left = rate > 0 ? `${formatDuration((total - done) / rate)} left` : 'starting'
  const withBar = (rest: readonly string[]) => {
    const texts = [percent, ...rest].join('  ')
    const place = width - `${what}  [] ${texts}`.length
    const bar = drawBar(part, Math.max(NARROWEST_BAR, Math.min(WIDEST_BAR, place)))
    return `${what}  ${bar} ${texts}`
  }
  return firstFitting(width, [
    withBar([amount, speed, left]),
    withBar([amount, left]),
    withBar([left]),
    withBar([]),
    `${what}  ${percent}`,
  ])
}

function firstFitting(width: number, lines: readonly string[]): string {
  return lines.find(line => line.length <= width) ?? cut(lines.at(-1) ?? '', width)
}

function drawBar(part: number, width: number): string {
  const filled = Math.round(part * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`
}

function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** `42 s`, `3 min 20 s`, `1 h 05 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  const pad = (part: number) => String(part).padStart(2, '0')
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`
}
