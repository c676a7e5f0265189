import { parseArgs } from 'node:util'
import type { Pace } from './measures/rounds.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { SMALLEST, type WorldSize } from './world/world.ts'

/** What is measured in addition to the scenarios. */
const PARTS = ['starts', 'writers', 'viewers', 'watched', 'published', 'go-live', 'growth', 'import'] as const
type Part = (typeof PARTS)[number]

/** The channels that the soak starts and stops must not be those with a role. */
const MIN_SOAK = 10_000

const NAMES = [...scenarios.map(each => each.name), ...PARTS]

export const USAGE = `npm run bench -- [flags]
  --quick              2,000 streams, 20,000 entitlements, two rounds of 1 s: an impression, not a result
  --only <name>        measure only this; repeatable. Scenarios:
                       ${scenarios.map(each => each.name).join('\n                       ')}
                       and other parts: ${PARTS.join(', ')}
  --streams <n>        live streams; default: 100000, soak 20000
  --entitlements <n>   entitlements; default: ten per stream
  --rounds <n>         number of rounds; default: 3
  --seconds <n>        length of a round; default: 5
  --soak               run a steady mixed load for half an hour instead
  --minutes <n>        length of the soak; default: 30
  --nodes              compare one and two nodes on PostgreSQL with the embedded store instead; 10000 streams, rounds of 3 s
  --callers            100,000 distinct callers read the directory with default limits and with limits off; 2000 streams
  --events             changes with and without subscriptions, deliveries, and 10,000 WebSockets; 4000 streams
  --overload           one node on PostgreSQL while 1,500 and 4,000 connections read from its store; 2000 streams
  --write              write results and pictures to bench/README.md: of a full run, --only growth, --soak, --nodes, --callers or --events`

export interface MeasurePlan {
  readonly kind: 'measure'
  readonly size: WorldSize
  readonly pace: Pace
  readonly chosen: readonly Scenario[]
  readonly parts: readonly Part[]
  /** A full run, without --only. */
  readonly whole: boolean
  readonly write: boolean
}

export interface SoakPlan {
  readonly kind: 'soak'
  readonly size: WorldSize
  readonly minutes: number
  readonly write: boolean
}

export interface NodesPlan {
  readonly kind: 'nodes'
  readonly size: WorldSize
  readonly pace: Pace
  readonly write: boolean
}

export interface OverloadPlan {
  readonly kind: 'overload'
  readonly size: WorldSize
  readonly seconds: number
}

export interface CallersPlan {
  readonly kind: 'callers'
  readonly size: WorldSize
  readonly rounds: number
  readonly seconds: number
  readonly write: boolean
}

const EVENT_PARTS = ['changes', 'sockets', 'deliveries'] as const

export interface EventsPlan {
  readonly kind: 'events'
  readonly parts: readonly (typeof EVENT_PARTS)[number][]
  readonly size: WorldSize
  readonly rounds: number
  readonly seconds: number
  readonly write: boolean
}

type Flags = ReturnType<typeof readFlags>

function readFlags(words: readonly string[]) {
  return parseArgs({
    args: [...words],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      streams: { type: 'string' },
      entitlements: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      soak: { type: 'boolean', default: false },
      nodes: { type: 'boolean', default: false },
      overload: { type: 'boolean', default: false },
      callers: { type: 'boolean', default: false },
      events: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values
}

/** Reads the flags. Throws an error that explains what is wrong. */
export function readPlan(
  words: readonly string[],
): MeasurePlan | SoakPlan | NodesPlan | OverloadPlan | CallersPlan | EventsPlan | 'help' {
  const flags = readFlags(words)
  if (flags.help) return 'help'
  if (flags.soak) return soakPlan(flags)
  if (flags.overload) return overloadPlan(flags)
  if (flags.callers) return callersPlan(flags)
  if (flags.events) return eventsPlan(flags)
  return flags.nodes ? nodesPlan(flags) : measurePlan(flags)
}

function nodesPlan(flags: Flags): NodesPlan {
  if (flags.quick || flags.only.length > 0 || flags.minutes !== undefined) {
    throw new Error(
      '--nodes can only be combined with --streams, --entitlements, --rounds, --seconds and --write',
    )
  }
  return {
    kind: 'nodes',
    size: sizeOf(flags, 10_000, SMALLEST.streams),
    pace: {
      rounds: number(flags, 'rounds', 3, 1),
      seconds: number(flags, 'seconds', 3, 1),
      warmUpSeconds: 0,
    },
    write: flags.write,
  }
}

function callersPlan(flags: Flags): CallersPlan {
  if (flags.quick || flags.only.length > 0 || flags.nodes) {
    throw new Error(
      '--callers can only be combined with --streams, --entitlements, --rounds, --seconds and --write',
    )
  }
  return {
    kind: 'callers',
    size: sizeOf(flags, 2000, SMALLEST.streams),
    rounds: number(flags, 'rounds', 3, 1),
    seconds: number(flags, 'seconds', 5, 1),
    write: flags.write,
  }
}

/** 10,000 sockets need so many users. */
const MIN_EVENTS = 2500

function eventsPlan(flags: Flags): EventsPlan {
  const parts = EVENT_PARTS.filter(part => flags.only.length === 0 || flags.only.includes(part))
  const unknown = flags.only.filter(name => !(EVENT_PARTS as readonly string[]).includes(name))
  if (flags.quick || unknown.length > 0 || flags.nodes) {
    throw new Error(
      `--events can only be combined with --only ${EVENT_PARTS.join(' or ')}, --streams, --entitlements, --rounds, --seconds and --write`,
    )
  }
  return {
    kind: 'events',
    parts,
    size: sizeOf(flags, 4000, MIN_EVENTS),
    rounds: number(flags, 'rounds', 5, 1),
    seconds: number(flags, 'seconds', 3, 1),
    write: flags.write,
  }
}

function overloadPlan(flags: Flags): OverloadPlan {
  if (flags.quick || flags.only.length > 0 || flags.nodes || flags.write) {
    throw new Error('--overload can only be combined with --streams, --entitlements and --seconds')
  }
  return {
    kind: 'overload',
    size: sizeOf(flags, 2000, SMALLEST.streams),
    seconds: number(flags, 'seconds', 10, 1),
  }
}

function soakPlan(flags: Flags): SoakPlan {
  const others = (['quick', 'rounds', 'seconds'] as const).filter(name => Boolean(flags[name]))
  if (others.length > 0 || flags.only.length > 0) {
    throw new Error('--soak can only be combined with --minutes, --streams, --entitlements and --write')
  }
  return {
    kind: 'soak',
    size: sizeOf(flags, 20_000, MIN_SOAK),
    minutes: number(flags, 'minutes', 30, 1),
    write: flags.write,
  }
}

function measurePlan(flags: Flags): MeasurePlan {
  const { quick, only, write } = flags
  if (flags.minutes !== undefined) throw new Error('--minutes needs --soak')
  const unknown = only.filter(name => !(NAMES as readonly string[]).includes(name))
  if (unknown.length > 0) throw new Error(`unknown --only: ${unknown.join(', ')}`)
  const whole = only.length === 0
  if (write && !whole && !only.includes('growth')) {
    throw new Error('--write needs a full run or --only growth: the results belong together')
  }
  const usual: readonly Part[] = quick ? ['starts'] : PARTS
  return {
    kind: 'measure',
    size: sizeOf(flags, quick ? 2000 : 100_000, SMALLEST.streams),
    pace: {
      rounds: number(flags, 'rounds', quick ? 2 : 3, 1),
      seconds: number(flags, 'seconds', quick ? 1 : 5, 1),
      warmUpSeconds: quick ? 1 : 2,
    },
    chosen: whole ? scenarios : scenarios.filter(each => only.includes(each.name)),
    parts: whole ? usual : PARTS.filter(part => only.includes(part)),
    whole,
    write,
  }
}

function sizeOf(flags: Flags, standard: number, least: number): WorldSize {
  const streams = number(flags, 'streams', standard, least)
  return { streams, entitlements: number(flags, 'entitlements', 10 * streams, SMALLEST.entitlements) }
}

type NumberFlag = 'streams' | 'entitlements' | 'rounds' | 'seconds' | 'minutes'

function number(flags: Flags, name: NumberFlag, standard: number, least: number): number {
  const value = Number(flags[name] ?? standard)
  if (!Number.isInteger(value) || value < least)
    throw new Error(`--${name} must be a whole number of at least ${least.toLocaleString('en-US')}`)
  return value
}
