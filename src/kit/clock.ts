/** The time of day, in milliseconds since 1970. Whoever needs it is handed a clock, so that a test or the demo can move it. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Where the demo's clock begins, and whether it goes on from there by itself. */
export interface ClockStart {
  readonly at: number
  readonly running: boolean
}

/** The demo's clock: the system's, or one that begins elsewhere; moved forward, stopped and let go on request. */
export class MovableClock implements Clock {
  readonly #start: ClockStart | undefined
  #shift = 0
  /** Where it stands; undefined while it runs. */
  #standing: number | undefined

  constructor(start?: ClockStart) {
    this.#start = start
    this.restart()
  }

  get running(): boolean {
    return this.#standing === undefined
  }

  now(): number {
    return this.#standing ?? Date.now() + this.#shift
  }

  advance(milliseconds: number): void {
    if (this.#standing === undefined) this.#shift += milliseconds
    else this.#standing += milliseconds
  }

  /** Stops it where it is, or lets it go on from there. */
  setRunning(running: boolean): void {
    const now = this.now()
    this.#shift = now - Date.now()
    this.#standing = running ? undefined : now
  }

  /** Back to where it began. */
  restart(): void {
    this.#shift = this.#start === undefined ? 0 : this.#start.at - Date.now()
    this.#standing = this.#start?.running === false ? this.#start.at : undefined
  }
}

/** `2026-03-01T12:00:00.250Z`: the form of every stored time that keeps milliseconds. It sorts as text. */
export function isoMillis(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The milliseconds of an RFC 3339 text in UTC; undefined for a day that the calendar does not have. */
export function parseTimestamp(text: string): number | undefined {
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) return undefined
  return isoMillis(milliseconds).slice(0, 10) === text.slice(0, 10) ? milliseconds : undefined
}

/** `2026-03-01T12:00:00Z`: whole seconds, rounded down. */
export function isoSeconds(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
