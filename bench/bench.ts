/** What a run consists of: measures, which get a bench and give results. */
import { constants, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lazy } from '../src/kit/lazy.ts'
import type { LeastPlan } from './baselines/least-server.ts'
import type { Load } from './load/http.ts'
import { Processes, type Served } from './load/processes.ts'
import { type BenchWorld, makeWorld, type WorldSize } from './world/world.ts'

/** What one server did under load, as medians of its rounds; the cost is microseconds of processor time for each request. */
export type LoadResult = Readonly<Record<'cost' | 'perSecond' | 'p99', number>>

/** One row of a report. */
export interface Result {
  readonly work: string
  /** A ratio, or a value with its unit. */
  readonly value: number
  readonly unit: string
  readonly details?: string
  readonly atLeast?: number
  readonly atMost?: number
  /** The ends of the middle half of the rounds. */
  readonly spread?: readonly [number, number]
  readonly strand?: LoadResult
  readonly against?: LoadResult
}

export interface Measure {
  readonly name: string
  run(bench: Bench): Promise<readonly Result[]>
}

/** How long everything is measured. */
export type Pace = Readonly<Record<'rounds' | 'seconds' | 'warmUpSeconds', number>>

export interface Plan {
  readonly size: WorldSize
  readonly pace: Pace
  readonly measures: readonly Measure[]
  /** Whether the results replace those in the README. */
  readonly write: boolean
}

/** A world with its server. */
type Inhabited = Readonly<{ world: BenchWorld; strand: Served }>

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

  makeWorld(name: string, size: WorldSize): Promise<BenchWorld> {
    return makeWorld(this.folder(name), size)
  }

  /** Starts its server. Baselines have copies of the store. */
  async inhabit(world: BenchWorld): Promise<Inhabited> {
    for (const baseline of ['usual', 'least']) copyStore(world.storeFile, join(world.folder, baseline))
    return { world, strand: await this.processes.startStrand(world.folder, world) }
  }

  /** The world of the size that was asked for, with its server, where operations are measured. */
  readonly ground = lazy(async () => this.inhabit(await this.makeWorld('world', this.plan.size)))

  readonly usual = lazy(async () => this.processes.startUsualServer(planFor('usual', await this.ground())))

  /** The least server of the operation that these requests are of. */
  startLeast({ requests: [first] }: Load, inhabited: Inhabited): Promise<Served> {
    const operation = `${first?.method ?? 'GET'} ${first?.path.replace(/\?.*/, '')}`
    const plan: LeastPlan = { operation, ...planFor('least', inhabited) }
    return this.processes.startBaseline('least-server', plan)
  }
}

const planFor = (baseline: string, { world, strand }: Inhabited) => ({
  storeFile: join(world.folder, baseline, 'strand.db'),
  masterKeys: world.secrets.masterKeys,
  // As Strand names itself when it listens on a loopback address.
  publicUrl: strand.url.replace('127.0.0.1', 'localhost'),
})

/** Copies a store that no process has open into a folder, and gives that. */
export function copyStore(storeFile: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  copyFileSync(storeFile, join(folder, 'strand.db'), constants.COPYFILE_FICLONE)
  return folder
}
