import { MovableClock } from '../kit/clock.ts'
import { Faults } from './faults.ts'

/** What the operator of a demo can pull: the time, planned failures, and a fresh start. */
export class DemoControls {
  readonly clock: MovableClock
  readonly faults = new Faults()
  #remakeWorld: () => Promise<void> = async () => undefined

  constructor(clock = new MovableClock()) {
    this.clock = clock
  }

  /** Whoever made the world knows how to make it again. */
  onReset(remakeWorld: () => Promise<void>): void {
    this.#remakeWorld = remakeWorld
  }

  async reset(): Promise<void> {
    this.clock.restart()
    this.faults.clear()
    await this.#remakeWorld()
  }
}
