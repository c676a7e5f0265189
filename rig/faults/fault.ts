import type { Lifetime } from '../../src/kit/lifetime.ts'
import { Load, type Recorded } from '../load/load.ts'
import type { Stage } from '../stage.ts'
import type { World } from '../world.ts'

/** How hard the rig tries. */
export interface Pace {
  readonly name: 'quick' | 'usual'
  /** How long a fault lasts that lasts, in seconds. */
  readonly seconds: number
  /** How often a fault strikes that strikes. */
  readonly rounds: number
  /** How many requests a fuzzer sends. */
  readonly requests: number
  /** Seed of everything that the trials draw at random. */
  readonly seed: number
}

export interface Ground {
  readonly stage: Stage
  readonly world: World
  readonly pace: Pace
}

type Verdict = 'held' | 'broken' | 'noted'

/** A line of the report. */
export interface Finding {
  readonly asked: string
  readonly measured: string
  readonly goal: string
  readonly verdict: Verdict
  /** It is about how fast something goes, which a machine that does other work too can spoil. */
  readonly isOfSpeed?: boolean
}

interface Entry {
  /** Also the name of its file. */
  readonly name: string
  /** In a sentence, what is done to the servers. */
  readonly what: string
  /** About how long it takes, in seconds. */
  seconds(pace: Pace): number
}

/** Breaks something in the cluster. */
export interface Fault extends Entry {
  strike(ground: Ground): Promise<Finding[]>
}

/** What a trial is given: a folder for its files, and a lifetime that closes what it opens. */
export interface Site {
  readonly folder: string
  readonly lifetime: Lifetime
  readonly pace: Pace
}

/** Needs no cluster: it starts the servers that it tests. */
export interface Trial extends Entry {
  run(site: Site): Promise<Finding[]>
}

const CALM_MILLISECONDS = 2000

/** Strikes in the middle of the usual load, with a calm time before and after. */
export async function underLoad(ground: Ground, strike: (load: Load) => Promise<void>): Promise<Recorded> {
  const load = await Load.begin(ground.stage, ground.world)
  try {
    await Bun.sleep(CALM_MILLISECONDS)
    await strike(load)
    await Bun.sleep(CALM_MILLISECONDS)
  } catch (error) {
    await load.end().catch(() => undefined)
    throw error
  }
  return load.end()
}
