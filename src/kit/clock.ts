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
  // Mostly the day of the time before: then only the rest is written, twice as fast as by the runtime.
  if (day !== lastDay) {
    const text = new Date(milliseconds).toISOString()
    if (!(day >= 0 && day < MAX_DAY)) return text
    lastDay = day
    lastDate = text.slice(0, 11)
  }
  const rest = milliseconds - day * DAY
  const seconds = Math.floor(rest / 1000)
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${lastDate}${TWO[hour]}:${TWO[minute]}:${TWO[seconds % 60]}.${THREE[Math.floor(rest % 1000)]}Z`
}

const DAY = 86_400_000
/** Of the year 10000, which has another form. */
const MAX_DAY = 2_932_897
const digits = (count: number, length: number) =>
  Array.from({ length: count }, (_, number) => String(number).padStart(length, '0'))
const [TWO, THREE] = [digits(60, 2), digits(1000, 3)]
let [lastDay, lastDate] = [Number.NaN, '']

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
