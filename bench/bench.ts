/** What a run consists of: measures, which get a bench and give results. */
import { constants, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lazy } from '../src/kit/lazy.ts'
import { Processes, type Served } from './load/processes.ts'
import { type BenchWorld, makeWorld, type WorldSize } from './world/world.ts'

/** What one server did under load, as medians of its rounds. */
export interface LoadResult {
  /** Microseconds of the server's processor time for each request. */
  readonly cost: number
  readonly perSecond: number
  readonly p99: number
}

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
  /** Where servers were compared: the lowest and highest ratio of the rounds, and what both servers did. */
  readonly spread?: readonly [number, number]
  readonly strand?: LoadResult
  readonly against?: LoadResult
}

export interface Measure {
  readonly name: string
  /** The block of the README that shows its results. */
  readonly block: string
  /** About how long it takes. */
  seconds(plan: Plan): number
  run(bench: Bench): Promise<readonly Result[]>
}

/** How long everything is measured. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  /** Of Strand; others need less. */
  readonly warmUpSeconds: number
}

export interface Plan {
  readonly size: WorldSize
  readonly pace: Pace
  readonly measures: readonly Measure[]
  /** Whether the results replace those in the README. */
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

  /** The world of the size that was asked for, with its server, where operations are measured. */
  readonly ground = lazy(async (): Promise<Inhabited> => {
    const world = await this.makeWorld('world', this.plan.size)
    copyStore(world.storeFile, this.folder('usual'))
    return this.inhabit(world)
  })

  /** The usual server on a copy of that world, as it was before the server had it. */
  readonly usual = lazy(async (): Promise<Served> => {
    const { world, strand } = await this.ground()
    return this.processes.startUsualServer({
      storeFile: join(this.folder('usual'), 'strand.db'),
      masterKeys: world.secrets.masterKeys,
      publicUrl: publicUrl(strand),
    })
  })

  makeWorld(name: string, size: WorldSize): Promise<BenchWorld> {
    return makeWorld(this.folder(name), size)
  }

  async inhabit(world: BenchWorld): Promise<Inhabited> {
    return { world, strand: await this.processes.startStrand(world.folder, world) }
  }
}

/** As Strand names itself when it listens on a loopback address. */
export const publicUrl = ({ url }: Served): string => url.replace('127.0.0.1', 'localhost')

/** A copy of a store that no process has open. */
export function copyStore(storeFile: string, folder: string): string {
  const file = join(folder, 'strand.db')
  copyFileSync(storeFile, file, constants.COPYFILE_FICLONE)
  return file
}
