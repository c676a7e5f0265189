/**
 * What happens in a demo at times of its clock: planned events, heartbeats of simulated viewers, claims for viewers.
 *
 * While the clock runs, a job does what is due. When the clock is moved, the time that it skips is played: the clock stops at
 * each time at which something is due, that is done, and so on up to the new time. Therefore a clock that is moved by an hour
 * leaves the same behind as one that has run for an hour, and all of it is done before the move is answered.
 *
 * What must hold:
 * - One thing at a time moves the clock, plays or replaces the world.
 * - At the same time, parts are done in the order of `PARTS`: a channel that goes live at 12:00 is live for the heartbeats of
 *   12:00.
 * - A part that fails, such as while the store is away, does not stop the clock. The job tries it again.
 */
import type { MovableClock } from '../../kit/time/clock.ts'

const PARTS = ['events', 'viewers', 'claims'] as const
type Part = (typeof PARTS)[number]

/** After so many times at which something was due, requests have their turn. */
const YIELD_EVERY = 1000

/** Work of a demo that is due at times of its clock. */
export interface TimedWork {
  /** Called when the clock begins to be moved. */
  begin?(): void
  /** When it is due next; undefined: not at all. */
  nextAt(): number | undefined
  /** Does what is due now. */
  run(): Promise<void>
  /** Completes what was played, when the clock has reached its new time. */
  settle?(): Promise<void>
}

export class DemoTimeline {
  readonly #clock: MovableClock
  readonly #works = new Map<Part, TimedWork>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: MovableClock) {
    this.#clock = clock
  }

  use(part: Part, work: TimedWork): void {
    this.#works.set(part, work)
  }

  /** Does something while nothing else moves the clock, plays or replaces the world. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Does what is due by now. */
  runDue(): Promise<void> {
    return this.alone(async () => {
      for (const work of this.#listWorks()) if (this.#isDue(work)) await work.run()
    })
  }

  /** Moves the clock to a later time, and plays the time between. To be called in `alone`. */
  async playTo(time: number): Promise<void> {
    const clock = this.#clock
    const works = new Set(this.#listWorks())
    const attempt = async (work: TimedWork, step: () => Promise<void> | undefined) => {
      try {
        await step()
      } catch {
        works.delete(work)
      }
    }
    const isRunning = clock.running
    clock.setRunning(false)
    for (const work of works) work.begin?.()
    try {
      for (let times = 1; ; times++) {
        const next = Math.min(...[...works].map(work => work.nextAt() ?? Number.POSITIVE_INFINITY))
        if (next > time) break
        clock.advance(Math.max(0, next - clock.now()))
        for (const work of works) if (this.#isDue(work)) await attempt(work, () => work.run())
        if (times % YIELD_EVERY === 0) await Bun.sleep(0)
      }
      clock.advance(Math.max(0, time - clock.now()))
      for (const work of works) await attempt(work, () => work.settle?.())
    } finally {
      clock.setRunning(isRunning)
    }
  }

  #listWorks(): TimedWork[] {
    return PARTS.flatMap(part => this.#works.get(part) ?? [])
  }

  #isDue(work: TimedWork): boolean {
    return (work.nextAt() ?? Number.POSITIVE_INFINITY) <= this.#clock.now()
  }
}
