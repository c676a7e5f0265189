/** The current time in Unix milliseconds. Code receives a clock as an argument, so that tests and the demo can move it. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** The start time of the demo's clock, and whether it runs from there. */
export interface ClockStart {
  readonly at: number
  readonly running: boolean
}

/** The demo's clock: the system's, or one with another start time. It can be advanced, stopped and resumed. */
export class MovableClock implements Clock {
  readonly #start: ClockStart | undefined
  #saved: ClockStart | undefined
  #shift = 0
  /** The time at which it is stopped; undefined while it runs. */
  #stoppedAt: number | undefined

  constructor(start?: ClockStart) {
    this.#start = start
    this.#saved = start
    this.restart('start')
  }

  get running(): boolean {
    return this.#stoppedAt === undefined
  }

  now(): number {
    return this.#stoppedAt ?? Date.now() + this.#shift
  }

  advance(milliseconds: number): void {
    if (this.#stoppedAt === undefined) this.#shift += milliseconds
    else this.#stoppedAt += milliseconds
  }

  /** Stops the clock, or resumes it from its current time. */
  setRunning(running: boolean): void {
    const now = this.now()
    this.#shift = now - Date.now()
    this.#stoppedAt = running ? undefined : now
  }

  /** Saves the state for `restart`. A clock that was never moved stays that of the system. */
  save(): void {
    const isSystemTime = this.running && this.#shift === 0
    this.#saved = isSystemTime ? undefined : { at: this.now(), running: this.running }
  }

  /** Returns to the saved state, or to the start. */
  restart(to: 'snapshot' | 'start'): void {
    if (to === 'start') this.#saved = this.#start
    const state = this.#saved
    this.#shift = state === undefined ? 0 : state.at - Date.now()
    this.#stoppedAt = state?.running === false ? state.at : undefined
  }
}

/** `2026-03-01T12:00:00.250Z`: the form of stored times with milliseconds. It sorts as text. */
export function isoMillis(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY)
  // Dates are written once, so that only the rest is left: twice as fast as the runtime writes the whole.
  const place = day % MAX_DATES
  if (days[place] !== day) {
    const text = new Date(milliseconds).toISOString()
    if (!(day >= 0 && day < MAX_DAY)) return text
    days[place] = day
    dates[place] = text.slice(0, 11)
  }
  const rest = milliseconds - day * DAY
  const seconds = Math.floor(rest / 1000)
  const minute = Math.floor(seconds / 60)
  return `${dates[place]}${MINUTES[minute]}${SECONDS[seconds - minute * 60]}${MILLIS[Math.floor(rest % 1000)]}`
}

const DAY = 86_400_000
/** Of the year 10000, which has another form. */
const MAX_DAY = 2_932_897
/** A page or a batch has times of several days. */
const MAX_DATES = 512
const days: number[] = Array(MAX_DATES).fill(Number.NaN)
const dates: string[] = Array(MAX_DATES).fill('')
const digits = (number: number, length: number) => String(number).padStart(length, '0')
const MINUTES = Array.from(
  { length: 1440 },
  (_, n) => `${digits(Math.floor(n / 60), 2)}:${digits(n % 60, 2)}:`,
)
const SECONDS = Array.from({ length: 60 }, (_, n) => `${digits(n, 2)}.`)
const MILLIS = Array.from({ length: 1000 }, (_, n) => `${digits(n, 3)}Z`)

/** Parses an RFC 3339 time in UTC; undefined for a day that does not exist. */
export function parseTimestamp(text: string): number | undefined {
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) return undefined
  return isoMillis(milliseconds).slice(0, 10) === text.slice(0, 10) ? milliseconds : undefined
}

/** `2026-03-01T12:00:00Z`: whole seconds, rounded down. */
export function isoSeconds(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
