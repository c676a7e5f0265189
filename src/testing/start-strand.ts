/**
 * The harness for other people's tests: `import { startStrand } from 'strand'`. It starts a demo on a port of its own, with
 * a world that is the same at every run, and gives what a test needs to use, move and break it. In Bun it runs in the same
 * process, elsewhere as a child with the Bun that comes with the package.
 */

import { createClient, type InputOf } from '../client/index.ts'
import type { controlOperations } from '../contract/index.ts'
import type { Scenario } from '../contract/resources/scenario.ts'
import type { World, WorldClient } from '../demo/described-world.ts'
import { startChild } from './child.ts'
import type { DemoRequest, StartedDemo } from './demo-wish.ts'

export type { Scenario } from '../contract/resources/scenario.ts'
export type { ScenarioThing, World, WorldClient } from '../demo/described-world.ts'

/** A failure to cause: of the next calls of an operation, or of the write of one entitlement. */
export type PlannedFault = InputOf<typeof controlOperations.planFault>

export interface StrandOptions {
  /** 0, and any other that is free: several can run at once. */
  readonly port?: number
  /** The same seed makes the same world; 42. */
  readonly seed?: number
  /** How many channels are live; 20. */
  readonly streams?: number
  /** When it is. A time stands still until it is moved; with `running`, it goes on by itself. The system's time if left out. */
  readonly clock?: string | Date | { readonly start: string | Date; readonly running: boolean }
  /** A scenario, or the path of a file with one. */
  readonly scenario?: string | Scenario
  /** Where it runs: in this process, which must be Bun's, or as a child. */
  readonly mode?: 'process' | 'child'
  /** A folder that keeps the world; without it, it is gone when the server stops. */
  readonly data?: string
  /** What is written to standard error; only errors if left out. */
  readonly log?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Settings of `strand serve`, by name. Those of the environment do not count; rate limits are off unless set here. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningStrand extends AsyncDisposable {
  readonly url: string
  /** The same as `strand demo --world` writes: ids, tokens, secrets, and the things of the scenario by name. */
  readonly world: World
  /** The client whose organization owns the drops. */
  readonly client: WorldClient
  readonly clock: {
    now(): Promise<Date>
    /** Moves it forward, and gives the time that it is then. */
    advance(seconds: number): Promise<Date>
    freeze(): Promise<Date>
    run(): Promise<Date>
  }
  readonly faults: {
    plan(fault: PlannedFault): Promise<void>
    clear(): Promise<void>
  }
  /** The world as it was at the start: the same ids and tokens, clock and faults. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** Only Bun can load what is behind this, so neither the bundle nor the declarations for Node are to follow it there. */
const IN_PROCESS = './in-process.ts'
interface InProcess {
  startInProcess(request: DemoRequest): Promise<StartedDemo>
}

const OPTIONS: Readonly<Record<keyof StrandOptions, true>> = {
  port: true,
  seed: true,
  streams: true,
  clock: true,
  scenario: true,
  mode: true,
  data: true,
  log: true,
  settings: true,
}

export async function startStrand(options: StrandOptions = {}): Promise<RunningStrand> {
  requireKnown(options)
  const { world, stop } = await startDemo(
    options.mode ?? (isBun() ? 'process' : 'child'),
    demoRequestOf(options),
  )
  const { control } = createClient({
    baseUrl: world.control_url.replace(/\/control$/, ''),
    operatorToken: world.operator_token,
  })
  const moveClock = async (move: InputOf<typeof controlOperations.advanceClock>) =>
    new Date((await control.advanceClock.one(move)).now)
  let stopping: Promise<void> | undefined
  const stopOnce = () => {
    stopping ??= stop()
    return stopping
  }
  return {
    url: world.base_url,
    world,
    client: world.client,
    clock: {
      now: async () => new Date((await control.readClock.one()).now),
      advance: seconds => moveClock({ advance_seconds: seconds }),
      freeze: () => moveClock({ running: false }),
      run: () => moveClock({ running: true }),
    },
    faults: {
      plan: async fault => void (await control.planFault(fault)),
      clear: async () => void (await control.clearFaults()),
    },
    reset: async () => void (await control.resetWorld()),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  }
}

/** Not everybody has a compiler that finds a name which was mistyped. */
function requireKnown(options: StrandOptions): void {
  const unknown = Object.keys(options).find(name => !Object.hasOwn(OPTIONS, name))
  if (unknown === undefined) return
  throw new TypeError(`startStrand takes no "${unknown}"; it takes ${Object.keys(OPTIONS).join(', ')}`)
}

async function startDemo(mode: 'process' | 'child', request: DemoRequest): Promise<StartedDemo> {
  if (mode === 'child') return startChild(request)
  if (!isBun()) throw new Error('mode "process" needs Bun: leave it out, and Strand runs as a child')
  const { startInProcess } = (await import(IN_PROCESS as string)) as InProcess
  return startInProcess(request)
}

function isBun(): boolean {
  return process.versions.bun !== undefined
}

function demoRequestOf(options: StrandOptions): DemoRequest {
  return {
    port: options.port ?? 0,
    seed: options.seed ?? 42,
    streams: options.streams ?? 20,
    clock: clockOf(options.clock),
    scenario: options.scenario,
    data: options.data,
    settings: {
      STRAND_LOG: options.log ?? 'error',
      STRAND_LOG_FORMAT: 'readable',
      ...options.settings,
    },
  }
}

function clockOf(clock: StrandOptions['clock']): DemoRequest['clock'] {
  if (clock === undefined) return undefined
  const { start, running } =
    typeof clock === 'object' && 'start' in clock ? clock : { start: clock, running: false }
  const at = new Date(start).getTime()
  if (Number.isNaN(at))
    throw new TypeError(`clock must be a time, such as 2026-03-01T12:00:00Z, not "${start}"`)
  return { at, running }
}
