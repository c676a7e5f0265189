import { MovableClock } from '../kit/clock.ts'
import { Faults } from './faults.ts'

/** The options of the world that a demo starts with. */
interface DemoWorld {
  readonly seed: number
  readonly streams: number
  readonly scenario?: object | undefined
}

/** The controls of demo mode: the clock, planned faults, and a reset. */
export class DemoControls {
  readonly clock: MovableClock
  readonly faults = new Faults()
  /** How the world was made; undefined until it is. */
  world: DemoWorld | undefined
  #recreateWorld: () => Promise<void> = async () => undefined

  constructor(clock = new MovableClock()) {
    this.clock = clock
  }

  /** Sets how a reset recreates the data. */
  onReset(recreateWorld: () => Promise<void>): void {
    this.#recreateWorld = recreateWorld
  }

  async reset(): Promise<void> {
    this.clock.restart()
    this.faults.clear()
    await this.#recreateWorld()
  }
}
