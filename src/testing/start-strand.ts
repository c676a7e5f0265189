/**
 * The test harness: `import { startStrand } from 'strand'`. It starts a demo on a free port, with the same world in every
 * run, and lets a test use it, move its clock and inject faults. Under Bun it runs in the same process, otherwise as a child
 * process with the Bun that comes with the package.
 */

import type { AdvanceClockInput, PlanFaultInput, Scenario } from '../client/api.ts'
import { createClient } from '../client/index.ts'
import type { WorldClient } from '../demo/described-world.ts'
import { startChild } from './child.ts'
import type { DemoRequest, StartedDemo } from './demo-request.ts'
import type { AnyScenario, Exact, World } from './scenario-world.ts'

export type { OperationName, Scenario } from '../client/api.ts'
export type { ScenarioThing, WorldClient } from '../demo/described-world.ts'
export type { AnyScenario, ScenarioEntries, World } from './scenario-world.ts'

/** A fault to inject: in the next calls of an operation, or in the write of one entitlement. */
export type PlannedFault = PlanFaultInput

export interface StrandOptions<S = Scenario> {
  /** Default: 0, for any free port. */
  readonly port?: number
  /** The same seed generates the same world; default: 42. */
  readonly seed?: number
  /** Number of live channels; default: 20. */
  readonly streams?: number
  /** The time of the clock, which is stopped unless `running` is true. Default: the system clock. */
  readonly clock?: string | Date | { readonly start: string | Date; readonly running: boolean }
  /** A scenario, or the path of a scenario file. */
  readonly scenario?: string | S
  /** In this process, which must be Bun, or as a child process. Default: `process` under Bun, otherwise `child`. */
  readonly mode?: 'process' | 'child'
  /**
   * Refuse what production refuses: every call needs a token and its `Client-Id`, and more, as listed in
   * docs/compatibility.md. Default: false.
   */
  readonly strict?: boolean
  /** Folder to keep the world in. Default: a temporary one, deleted when the server stops. */
  readonly data?: string
  /** Level of the log on standard error; default: `error`. */
  readonly log?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Settings of `strand serve`, by name. The environment is ignored; rate limits are off unless set here. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningStrand<S = AnyScenario> extends AsyncDisposable {
  readonly url: string
  /** The same as `strand demo --world` writes: ids, tokens, secrets, and the objects of the scenario by name. */
  readonly world: World<S>
  /** The client whose organization owns the drops. */
  readonly client: WorldClient
  readonly clock: {
    now(): Promise<Date>
    /** Moves the clock forward and returns the new time. */
    advance(seconds: number): Promise<Date>
    freeze(): Promise<Date>
    run(): Promise<Date>
  }
  readonly faults: {
    plan(fault: PlannedFault): Promise<void>
    clear(): Promise<void>
  }
  /** Restores the world of the start: ids, tokens, clock and faults. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** Not a literal import: only Bun can load this module, so the bundle and the declarations for Node must not include it. */
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
  strict: true,
  data: true,
  log: true,
  settings: true,
}

/** Starts a demo and resolves when it serves. The entries of the scenario are typed by their names. */
export async function startStrand<const S extends Scenario = AnyScenario>(
  options: StrandOptions<S & Exact<S, Scenario>> = {},
): Promise<RunningStrand<S>> {
  requireKnown(options)
  const { world, stop } = await startDemo(
    options.mode ?? (isBun() ? 'process' : 'child'),
    demoRequestOf(options),
  )
  const { control } = createClient({
    baseUrl: world.control_url.replace(/\/control$/, ''),
    operatorToken: world.operator_token,
  })
  const moveClock = async (move: AdvanceClockInput) => new Date((await control.advanceClock.one(move)).now)
  let stopping: Promise<void> | undefined
  const stopOnce = () => {
    stopping ??= stop()
    return stopping
  }
  return {
    url: world.base_url,
    world: { scenario: {}, ...world } as unknown as World<S>,
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

/** JavaScript callers have no compiler that finds a mistyped name. */
function requireKnown(options: StrandOptions): void {
  const unknown = Object.keys(options).find(name => !Object.hasOwn(OPTIONS, name))
  if (unknown === undefined) return
  throw new TypeError(
    `startStrand: unknown option "${unknown}"; must be one of ${Object.keys(OPTIONS).join(', ')}`,
  )
}

async function startDemo(mode: 'process' | 'child', request: DemoRequest): Promise<StartedDemo> {
  if (mode === 'child') return startChild(request)
  if (!isBun()) throw new Error('mode "process" requires Bun: omit it to run Strand as a child process')
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
    strict: options.strict ?? false,
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
    throw new TypeError(`invalid clock: must be a time such as 2026-03-01T12:00:00Z, not "${start}"`)
  return { at, running }
}
