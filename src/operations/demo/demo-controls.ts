import { MovableClock } from '../../kit/time/clock.ts'
import { DemoTimeline } from './demo-timeline.ts'
import { Faults } from './faults.ts'
import { RequestJournal } from './request-journal.ts'
import { SimulatedViewers } from './simulated-viewers.ts'

/** The options of the world that a demo starts with. */
interface DemoWorld {
  readonly seed: number
  readonly streams: number
  readonly scenario?: object | undefined
}

/** How the data of a demo is saved and restored. */
export interface WorldStates {
  /** Recreates the world of the start, and its faults. */
  recreate(): Promise<void>
  save(): Promise<void>
  /** Returns to what was saved. */
  restore(): Promise<void>
}

/** A file that a demo makes up when it is asked for. */
export interface InventedFile {
  readonly type: string
  readonly cacheControl: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** What a demo shows of channels that no encoder publishes to. */
export interface InventedVideo {
  /** The playlist or segment at a path below `/live/` or `/videos/`; undefined: there is none. */
  find(path: string): Promise<InventedFile | undefined>
  /** Whether the viewers of a channel are invented, too: players that show a clip are not counted. */
  hasInventedViewers(user_id: string): Promise<boolean>
  /** The scene, and the percent of it that have passed, that the picture of a channel or video shows; undefined: the picture is drawn from the id. */
  scene(kind: 'channels' | 'videos', id: string): Promise<string | undefined>
}

/** The controls of demo mode: the clock, simulated viewers, planned faults, the requests, and what a reset returns to. */
export class DemoControls {
  readonly clock: MovableClock
  readonly timeline: DemoTimeline
  readonly viewers: SimulatedViewers
  readonly faults = new Faults()
  readonly journal = new RequestJournal()
  /** Undefined: only broadcasts and recordings play. */
  video: InventedVideo | undefined
  /** How the world was made; undefined until it is. */
  world: DemoWorld | undefined
  /** What tests need to use the world; undefined until the server listens. */
  description: Readonly<Record<string, unknown>> | undefined
  #states: WorldStates | undefined
  #restoreFaults: (() => void) | undefined

  constructor(clock = new MovableClock()) {
    this.clock = clock
    this.timeline = new DemoTimeline(clock)
    this.viewers = new SimulatedViewers(clock)
    this.timeline.use('viewers', this.viewers)
  }

  useStates(states: WorldStates): void {
    this.#states = states
  }

  save(): Promise<void> {
    return this.timeline.alone(async () => {
      await this.#states?.save()
      this.clock.save()
      this.#restoreFaults = this.faults.save()
    })
  }

  reset(to: 'snapshot' | 'start' = 'snapshot'): Promise<void> {
    return this.timeline.alone(() => this.#reset(to))
  }

  async #reset(to: 'snapshot' | 'start'): Promise<void> {
    const restoreFaults = to === 'start' ? undefined : this.#restoreFaults
    this.#restoreFaults = restoreFaults
    this.clock.restart(to)
    this.viewers.restart([])
    this.faults.clear()
    this.journal.clear()
    if (restoreFaults === undefined) return this.#states?.recreate()
    await this.#states?.restore()
    restoreFaults()
  }
}
