/** What a run consists of: measures, which get a bench and give results. */
import { constants, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lazy } from '../src/kit/lazy.ts'
import { Processes, type Served } from './load/processes.ts'
import { type BenchWorld, makeWorld, type WorldSize } from './world/world.ts'

/** One row of a report. */
export interface Result {
  readonly work: string
  /** A ratio, or a value with its unit. */
  readonly value: number
  readonly unit: string
  /** Where the value comes from: rates, spread, memory. */
  readonly details?: string
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Measure {
  readonly name: string
  /** About how long it takes. */
  seconds(plan: Plan): number
  run(bench: Bench): Promise<readonly Result[]>
}

/** How long everything is measured. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

export interface Plan {
  readonly size: WorldSize
  readonly pace: Pace
  readonly measures: readonly Measure[]
  /** Of the measures that vary it. */
  readonly connections: readonly number[]
  /** Whether the report replaces the blocks of the README with the same names. */
  readonly write: boolean
}

/** A world with its server. */
export interface Inhabited {
  readonly world: BenchWorld
  readonly strand: Served
}

export class Bench {
  readonly plan: Plan
  readonly processes: Processes
  readonly #root: string

  constructor(plan: Plan, root: string) {
    this.plan = plan
    this.#root = root
    this.processes = new Processes(root)
  }

  folder(name: string): string {
    const made = join(this.#root, name)
    mkdirSync(made, { recursive: true })
    return made
  }

  /** The world of the size that was asked for, as it was made. */
  readonly world = lazy(() => this.makeWorld('world', this.plan.size))

  /** That world with its server, where nearly everything is measured. */
  readonly ground = lazy(async (): Promise<Inhabited> => {
    await this.pristine()
    return this.inhabit(await this.world())
  })

  /** The store of that world before the server has it, for baselines that write. */
  readonly pristine = lazy(async () => copyStore((await this.world()).storeFile, this.folder('pristine')))

  makeWorld(name: string, size: WorldSize): Promise<BenchWorld> {
    return makeWorld(this.folder(name), size)
  }

  async inhabit(world: BenchWorld): Promise<Inhabited> {
    return { world, strand: await this.processes.startStrand(world.folder, world) }
  }
}

/** A copy of a store that no process has open. */
export function copyStore(storeFile: string, folder: string): string {
  const file = join(folder, 'strand.db')
  copyFileSync(storeFile, file, constants.COPYFILE_FICLONE)
  return file
}
