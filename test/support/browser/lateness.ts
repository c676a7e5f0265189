/** What a busy machine takes from a page and from this process: by how much a timer is late in each. */
import type { Page } from 'playwright-core'

/** How late something was, and when it came. */
export interface Pause {
  readonly at: number
  readonly milliseconds: number
}

const TICK_MILLISECONDS = 50

/** Notes in `pauses` by how much a timer is late. Runs here and in pages, so it uses nothing from outside. */
function noteLateness(pauses: Pause[], tick: number): ReturnType<typeof setInterval> {
  let last = Date.now()
  return setInterval(() => {
    const at = Date.now()
    const milliseconds = at - last - tick
    if (milliseconds > tick) pauses.push({ at, milliseconds })
    last = at
  }, tick)
}

export class Lateness {
  readonly #page: Page
  readonly #pauses: Pause[] = []
  readonly #timer = noteLateness(this.#pauses, TICK_MILLISECONDS)

  private constructor(page: Page) {
    this.#page = page
  }

  /** Of the document that is open, until it stops. */
  static async of(page: Page): Promise<Lateness> {
    await page.evaluate(`window.pauses = []; (${noteLateness})(window.pauses, ${TICK_MILLISECONDS})`)
    return new Lateness(page)
  }

  /** Stops, and gives what was noted. */
  async stop(): Promise<Pause[]> {
    clearInterval(this.#timer)
    return [...this.#pauses, ...(await this.#page.evaluate<Pause[]>('window.pauses'))]
  }
}

export const totalOf = (pauses: readonly Pause[]): number =>
  pauses.reduce((sum, { milliseconds }) => sum + milliseconds, 0)

/** How something ended, and in how many milliseconds, without those that this process was late. */
export async function timed(work: Promise<unknown>): Promise<{ outcome: unknown; took: number }> {
  const pauses: Pause[] = []
  const timer = noteLateness(pauses, TICK_MILLISECONDS)
  const began = performance.now()
  const outcome = await work.catch((error: unknown) => error)
  const took = performance.now() - began
  clearInterval(timer)
  return { outcome, took: took - totalOf(pauses) }
}
