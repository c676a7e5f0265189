/** The time of day, in milliseconds since 1970. Whoever needs it is handed a clock, so that a test or the demo can move it. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** The demo's clock: the system's, shifted forward on request. */
export class MovableClock implements Clock {
  #shift = 0

  now(): number {
    return Date.now() + this.#shift
  }

  advance(milliseconds: number): void {
    this.#shift += milliseconds
  }
}

/** `2026-03-01T12:00:00.250Z`: the form of every stored time that keeps milliseconds. It sorts as text. */
export function isoMillis(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The milliseconds of an RFC 3339 text in UTC; undefined for a day that the calendar does not have. */
export function parseMoment(text: string): number | undefined {
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) return undefined
  return isoMillis(milliseconds).slice(0, 10) === text.slice(0, 10) ? milliseconds : undefined
}

/** `2026-03-01T12:00:00Z`: whole seconds, rounded down. */
export function isoSeconds(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
