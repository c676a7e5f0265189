/**
 * How much of the processors the host of a virtual machine gave to others while this one had work for them. Linux counts it.
 * The host may take most of them for minutes, and then nothing here keeps a deadline.
 */
import { readFileSync } from 'node:fs'

const INTERVAL_MILLISECONDS = 5000
/** What the host takes from an idle machine is not counted, so calm is a second of work that got its processor. */
const TRIAL_MILLISECONDS = 1000
const LITTLE = 0.05
const BETWEEN_TRIALS_MILLISECONDS = 9000
const MAX_TRIALS = 30
/** The fields of `cpu` up to `steal`; those after it are part of others. */
const FIELDS = 8

interface Interval {
  /** On the clock of `performance`. */
  readonly until: number
  readonly share: number
}

export class StolenTime {
  readonly #read: () => string
  readonly #intervals: Interval[] = []
  readonly #timer: Timer
  #last: readonly number[]

  constructor(read = readSystem) {
    this.#read = read
    this.#last = parse(read())
    this.#timer = setInterval(() => this.note(), INTERVAL_MILLISECONDS)
    this.#timer.unref()
  }

  /** Resolves when the host takes little, or after five minutes. */
  async untilCalm(): Promise<void> {
    for (let trial = 0; trial < MAX_TRIALS; trial++) {
      this.note()
      const end = performance.now() + TRIAL_MILLISECONDS
      while (performance.now() < end);
      if (this.note() < LITTLE) return
      await Bun.sleep(BETWEEN_TRIALS_MILLISECONDS)
    }
  }

  /** Ends an interval, and gives its share. */
  note(): number {
    const now = parse(this.#read())
    const spent = now.map((value, field) => value - (this.#last[field] ?? 0))
    const all = spent.reduce((sum, value) => sum + value, 0)
    this.#last = now
    const share = all === 0 ? 0 : (spent.at(-1) ?? 0) / all
    this.#intervals.push({ until: performance.now(), share })
    return share
  }

  /** The largest share of an interval that lies between these times, also in part. */
  worst(from: number, to: number): number {
    let share = 0
    let began = Number.NEGATIVE_INFINITY
    for (const interval of this.#intervals) {
      if (interval.until >= from && began <= to) share = Math.max(share, interval.share)
      began = interval.until
    }
    return share
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Elsewhere nothing is counted. */
function readSystem(): string {
  try {
    return readFileSync('/proc/stat', 'utf8')
  } catch {
    return ''
  }
}

function parse(text: string): readonly number[] {
  const [line = ''] = text.split('\n')
  return line
    .split(/\s+/)
    .slice(1, 1 + FIELDS)
    .map(Number)
}
