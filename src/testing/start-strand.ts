/**
 * The test harness: `import { startStrand } from 'strand-server'`. It starts a demo on a free port, with the same world in every
 * run, and lets a test use it, move its clock, inject faults and see what was called. Under Bun it runs in the same process,
 * otherwise as a child process with the Bun that comes with the package. `attachStrand` uses a demo that runs already.
 */

import { readFileSync } from 'node:fs'
import type { EventDelivery, PlanFaultInput, Scenario } from '../client/api.ts'
import type { World as DescribedWorld, WorldClient } from '../demo/described-world.ts'
import { checkOptions, readClock, readTime, requireKnown } from './check-options.ts'
import { startChild, strandProgram } from './child.ts'
import { type ControlAddress, createControl } from './control.ts'
import type { DemoRequest, StartedDemo } from './demo-request.ts'
import { intercept, interceptsByDefault } from './interception.ts'
import type { StrandOptions } from './options.ts'
import { createRequests, type Requests } from './requests.ts'
import type { AnyScenario, Exact, World } from './scenario-world.ts'
import { createViewers, type Viewers } from './viewers.ts'

export type { EventDelivery, OperationName, RecordedRequest, Scenario } from '../client/api.ts'
export type {
  ScenarioBenefitEntry,
  ScenarioCampaignEntry,
  ScenarioClientEntry,
  ScenarioEntitlementEntry,
  ScenarioGrantEntry,
  ScenarioNamedEntry,
  ScenarioThing,
  ScenarioTokenEntry,
  ScenarioUserEntry,
  WorldClient,
  WorldDrop,
} from '../demo/described-world.ts'
export type { StrandOptions } from './options.ts'
export type { Requests } from './requests.ts'
export type { AnyScenario, ScenarioEntries, World } from './scenario-world.ts'
export type { Viewers, WatchingViewer } from './viewers.ts'

/** A fault to inject: in calls of an operation, or in the write of one entitlement. */
export type PlannedFault = PlanFaultInput
/** What an injected fault does. */
export type FaultOutcome = PlanFaultInput['outcome']

/** A demo that runs already: the file that `strand demo --world` wrote, its content, or its address. */
export type AttachOptions = (
  | { readonly worldFile: string }
  | { readonly world: Pick<DescribedWorld, 'control_url' | 'operator_token'> }
  | { readonly url: string; readonly operatorToken: string }
) &
  Pick<StrandOptions, 'intercept'>

export interface RunningStrand<S = AnyScenario> extends AsyncDisposable {
  readonly url: string
  /** The same as `strand demo --world` writes: ids, tokens, secrets, and the entries of the scenario by name. */
  readonly world: World<S>
  /** The client whose organization owns the drops. */
  readonly client: WorldClient
  readonly clock: {
    now(): Promise<Date>
    /**
     * Moves the clock forward, by milliseconds at least, and returns the new time. What happens in the time that is skipped has
     * happened then, in order: planned events, the starts and ends of campaigns, heartbeats of `viewers`, claims for viewers.
     */
    advance(seconds: number): Promise<Date>
    /** Moves the clock forward to this time. Only `reset` moves it back. */
    set(time: string | Date): Promise<Date>
    freeze(): Promise<Date>
    run(): Promise<Date>
  }
  readonly viewers: Viewers
  readonly faults: {
    plan(fault: PlannedFault): Promise<void>
    /** The faults that still apply, with what is left of `skip` and `times`. */
    pending(): Promise<PlannedFault[]>
    clear(): Promise<void>
  }
  readonly requests: Requests
  readonly events: {
    /** Messages to subscribers that have not arrived, the oldest first, with what the last attempt was answered: at most 100. */
    pending(): Promise<EventDelivery[]>
  }
  /** Saves the state that `reset` returns to from now on: data, clock, faults, viewers, and the later events of the scenario. */
  snapshot(): Promise<void>
  /** Returns to the snapshot, or to the world of the start: ids, tokens, clock and faults. Clears the requests. */
  reset(options?: { readonly to?: 'snapshot' | 'start' }): Promise<void>
  /** Stops the server, and sends intercepted calls to the real hosts again. One that `attachStrand` found continues. */
  stop(): Promise<void>
}

/** Not a literal import: only Bun can load this module, so the bundle and the declarations for Node must not include it. */
const inProcessModule = () => (import.meta.url.endsWith('.ts') ? './in-process.ts' : strandProgram())
interface InProcess {
  startInProcess(request: DemoRequest): Promise<StartedDemo>
}

const START_TIMEOUT = 30_000

/** Starts a demo and resolves when it serves. The entries of the scenario are typed by their names. */
export async function startStrand<const S extends Scenario = AnyScenario>(
  options: StrandOptions<S & Exact<S, Scenario>> = {},
): Promise<RunningStrand<S>> {
  checkOptions(options as StrandOptions)
  const mode = options.mode ?? (isBun() ? 'process' : 'child')
  const { world, stop } = await startDemo(mode, toDemoRequest(options as StrandOptions))
  return createControls<S>(world, await intercepting(options, world, stop))
}

/** Uses a demo that runs already, such as one for all test files. */
export async function attachStrand(options: AttachOptions): Promise<RunningStrand> {
  const address = controlAddress(options)
  const { data } = await createControl(address)<{ data: [DescribedWorld] }>('GET', '/world')
  return createControls(data[0], await intercepting(options, data[0], async () => undefined))
}

/** Intercepts calls if the options ask for it, and returns what stops that and the server. */
async function intercepting(
  { intercept: isWanted = interceptsByDefault() }: Pick<StrandOptions, 'intercept'>,
  { base_url }: DescribedWorld,
  stop: () => Promise<void>,
): Promise<() => Promise<void>> {
  if (!isWanted) return stop
  try {
    const end = intercept(base_url)
    return () => {
      end()
      return stop()
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function createControls<S>(world: DescribedWorld, stop: () => Promise<void>): RunningStrand<S> {
  const control = createControl(world)
  const moveClock = async (move: object) => timeIn(await control('POST', '/clock', move))
  let stopping: Promise<void> | undefined
  const stopOnce = () => {
    stopping ??= stop()
    return stopping
  }
  return {
    url: world.base_url,
    world: { ...world, scenario: world.scenario ?? {} } as unknown as World<S>,
    client: world.client,
    clock: {
      now: async () => timeIn(await control('GET', '/clock')),
      advance: seconds => moveClock({ advance_seconds: seconds }),
      set: async time => moveClock({ time: new Date(readTime('time', time)).toISOString() }),
      freeze: () => moveClock({ running: false }),
      run: () => moveClock({ running: true }),
    },
    viewers: createViewers(control, world),
    faults: {
      plan: async fault => void (await control('POST', '/faults', fault)),
      pending: async () => (await control<{ data: PlannedFault[] }>('GET', '/faults')).data,
      clear: () => control('DELETE', '/faults'),
    },
    requests: createRequests(control),
    events: {
      pending: async () => {
        const { data } = await control<{ data: EventDelivery[] }>(
          'GET',
          '/deliveries?status=pending&first=100',
        )
        return data.reverse()
      },
    },
    snapshot: () => control('POST', '/snapshot'),
    reset: (options = {}) => control('POST', '/reset', options),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  }
}

function timeIn({ data: [clock] }: { readonly data: readonly [{ readonly now: string }] }): Date {
  return new Date(clock.now)
}

function controlAddress(options: AttachOptions): ControlAddress {
  const given = options ?? {}
  requireKnown('attachStrand', given, ['worldFile', 'world', 'url', 'operatorToken', 'intercept'])
  const { worldFile, world, url, operatorToken } = given as Partial<
    Record<'worldFile' | 'url' | 'operatorToken', string> & { world: DescribedWorld }
  >
  if (worldFile !== undefined) return addressIn(readWorld(worldFile), worldFile)
  if (world !== undefined) return addressIn(world, 'world')
  if (url === undefined || operatorToken === undefined)
    throw new TypeError('attachStrand: give worldFile, world, or url and operatorToken')
  if (!/^http:\/\/[^/]+\/?$/.test(url))
    throw new TypeError(`attachStrand: invalid url: must be like http://localhost:8080, not "${url}"`)
  return { control_url: `${url.replace(/\/$/, '')}/control`, operator_token: operatorToken }
}

function readWorld(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`attachStrand: ${file} is not the world of a demo: ${(error as Error).message}`)
  }
}

function addressIn(world: unknown, name: string): ControlAddress {
  const { control_url, operator_token } = (world ?? {}) as Partial<ControlAddress>
  if (typeof control_url === 'string' && typeof operator_token === 'string')
    return { control_url, operator_token }
  throw new TypeError(
    `attachStrand: ${name} is not the world of a demo: control_url or operator_token is missing`,
  )
}

async function startDemo(mode: 'process' | 'child', request: DemoRequest): Promise<StartedDemo> {
  if (mode === 'child') return startChild(request)
  if (!isBun()) throw new Error('mode "process" requires Bun: omit it to run Strand as a child process')
  const { startInProcess } = (await import(inProcessModule())) as InProcess
  return startInProcess(request)
}

function isBun(): boolean {
  return process.versions.bun !== undefined
}

function toDemoRequest(options: StrandOptions): DemoRequest {
  return {
    port: options.port ?? 0,
    seed: options.seed ?? 42,
    streams: options.streams ?? 20,
    clock: readClock(options.clock),
    scenario: options.scenario,
    strict: options.strict ?? false,
    data: options.data,
    settings: {
      STRAND_LOG: options.log ?? 'error',
      STRAND_LOG_FORMAT: 'readable',
      ...options.settings,
    },
    startTimeout: options.startTimeout ?? START_TIMEOUT,
  }
}
