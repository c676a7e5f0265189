/**
 * `npm run bench`: Strand and what it is held against on core 0, the load generator on core 1, in interleaved rounds.
 * See README.md.
 */
import { constants, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Lifetime } from '../src/kit/lifetime.ts'
import { Children, memoryOf, SERVER_CORE } from './children.ts'
import { type Comparison, describeMachine, median, type Single, toMarkdown, writeInto } from './figures.ts'
import { requireTools } from './load.ts'
import { type Ground, measureBesideWriters, measureGrowth, measureScenario, type Pace } from './measure.ts'
import type { Scenario } from './scenario.ts'
import { createStreamMarker } from './scenarios/create-stream-marker.ts'
import { scenarios } from './scenarios/index.ts'
import { makeWorld, SMALLEST, type WorldSize } from './world.ts'

const STARTS = 3
const SETTLE_MILLISECONDS = 1500

const USAGE = `npm run bench -- [flags]
  --quick              2,000 streams, 20,000 entitlements, two rounds of 1 s: a look, not a figure
  --only <name>        one scenario; may be given again. Names:
                       ${scenarios.map(each => each.name).join('\n                       ')}
  --streams <n>        live streams; 100000
  --entitlements <n>   1000000
  --rounds <n>         3
  --seconds <n>        length of a round; 5
  --write              put the figures into bench/README.md`

interface Plan {
  readonly size: WorldSize
  readonly pace: Pace
  readonly chosen: readonly Scenario[]
  /** Start and memory too, not only scenarios. */
  readonly starts: boolean
  /** Growth and reads beside writers too. */
  readonly long: boolean
  readonly write: boolean
}

function readPlan(words: readonly string[]): Plan {
  const { values } = parseArgs({
    args: [...words],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      streams: { type: 'string' },
      entitlements: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const number = (name: string, text: string | undefined, standard: number, low: number) => {
    const value = text === undefined ? standard : Number(text)
    if (!Number.isInteger(value) || value < low)
      throw new Error(`--${name} must be a whole number of at least ${low}`)
    return value
  }
  const { quick, only } = values
  const unknown = only.filter(name => !scenarios.some(each => each.name === name))
  if (unknown.length > 0) throw new Error(`no scenario is called ${unknown.join(', ')}`)
  return {
    size: {
      streams: number('streams', values.streams, quick ? 2000 : 100_000, SMALLEST.streams),
      entitlements: number(
        'entitlements',
        values.entitlements,
        quick ? 20_000 : 1_000_000,
        SMALLEST.entitlements,
      ),
    },
    pace: {
      rounds: number('rounds', values.rounds, quick ? 2 : 3, 1),
      seconds: number('seconds', values.seconds, quick ? 1 : 5, 1),
      warmUpSeconds: quick ? 1 : 2,
    },
    chosen: only.length === 0 ? scenarios : scenarios.filter(each => only.includes(each.name)),
    starts: only.length === 0,
    long: only.length === 0 && !quick,
    write: values.write,
  }
}

function say(progress: string): void {
  console.error(`bench: ${progress}`)
}

/** A number of starts: the time to the first answer, and the memory a moment later. */
async function measureStarts(
  children: Children,
  folderOf: (start: number) => string,
  masterKeys: string | undefined,
  words: { name: string; atMost: { milliseconds: number; resident: number } },
): Promise<Single[]> {
  const times: number[] = []
  const resident: number[] = []
  const own: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const strand = await children.startStrand(folderOf(start), masterKeys)
    times.push(strand.milliseconds)
    await Bun.sleep(SETTLE_MILLISECONDS)
    const memory = memoryOf(strand.pid)
    resident.push(memory.resident)
    own.push(memory.own)
    await strand.stop()
  }
  const { name, atMost } = words
  return [
    { name: `Start to first answer, ${name}`, value: median(times), unit: 'ms', atMost: atMost.milliseconds },
    { name: `Resident memory, idle, ${name}`, value: median(resident), unit: 'MB', atMost: atMost.resident },
    { name: `of that its own, without mapped files, ${name}`, value: median(own), unit: 'MB' },
  ]
}

async function run(plan: Plan, children: Children, folder: string): Promise<void> {
  const { size, pace } = plan
  const inside = (name: string) => {
    const made = join(folder, name)
    mkdirSync(made, { recursive: true })
    return made
  }
  const singles: Single[] = []
  const comparisons: Comparison[] = []

  const world = await makeWorld(inside('world'), size, progress => say(`world: ${progress}`))
  const loopFile = join(inside('loop'), 'strand.db')
  copyFileSync(world.storeFile, loopFile, constants.COPYFILE_FICLONE)
  if (plan.starts) {
    say('starts')
    const empty = { name: 'empty store', atMost: { milliseconds: 300, resident: 120 } }
    const full = {
      name: `${size.streams.toLocaleString('en-US')} live`,
      atMost: { milliseconds: 2000, resident: 400 },
    }
    singles.push(...(await measureStarts(children, start => inside(`empty-${start}`), undefined, empty)))
    singles.push(...(await measureStarts(children, () => world.folder, world.masterKeys, full)))
  }

  const strand = await children.startStrand(world.folder, world.masterKeys)
  inside('scratch/writers')
  const ground: Ground = { children, folder: inside('scratch'), world, strand, loopFile, pace }
  for (const scenario of plan.chosen) {
    say(scenario.name)
    comparisons.push(...(await measureScenario(ground, scenario)))
  }
  if (plan.long) {
    for (const scenario of plan.chosen.filter(each => each.besideWriters)) {
      say(`${scenario.name}, beside writers`)
      comparisons.push(await measureBesideWriters(ground, scenario, createStreamMarker))
    }
    singles.push({
      name: 'Resident memory after all of this',
      value: memoryOf(strand.pid).resident,
      unit: 'MB',
    })
  }
  if (plan.long) {
    const small = await makeWorld(inside('small'), SMALLEST, progress => say(`small world: ${progress}`))
    const beside = { world: small, strand: await children.startStrand(small.folder, small.masterKeys) }
    for (const scenario of plan.chosen.filter(each => each.grows)) {
      say(`${scenario.name}, growth`)
      comparisons.push(await measureGrowth(ground, beside, scenario))
    }
  }

  const report = {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
      ' ',
    ),
    machine: describeMachine(await processorModel(children)),
    size: `${size.streams.toLocaleString('en-US')} live streams, ${size.entitlements.toLocaleString('en-US')} entitlements`,
    pace: `medians of ${pace.rounds} rounds of ${pace.seconds} s`,
    loadAverage: loadavg()[0] ?? Number.NaN,
    comparisons,
    singles,
  }
  const markdown = toMarkdown(report)
  console.log(markdown)
  const results = new URL('results/', import.meta.url).pathname
  mkdirSync(results, { recursive: true })
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '')
  writeFileSync(join(results, `${stamp}.json`), `${JSON.stringify(report, null, 2)}\n`)
  if (plan.write) writeInto(new URL('README.md', import.meta.url).pathname, markdown)
}

async function processorModel(children: Children): Promise<string | undefined> {
  if (Bun.which('lscpu') === null) return undefined
  return /Model name:\s+(.+)/.exec(await children.output(SERVER_CORE, ['lscpu']))?.[1]?.trim()
}

/** Whatever happens, every process that was started is ended and the folder removed. */
async function main(): Promise<number> {
  let plan: Plan
  try {
    plan = readPlan(process.argv.slice(2))
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  await requireTools()
  const children = new Children()
  const folder = mkdtempSync(join(tmpdir(), 'strand-bench-'))
  const lifetime = new Lifetime()
  lifetime.onClose(() => rmSync(folder, { recursive: true, force: true }))
  lifetime.onClose(() => children.stopAll())
  // Whoever asks to stop waits for the same stopping: a run that fails because it is being stopped must not outrun it.
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= lifetime.close()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void stop().finally(() => process.exit(130)))
  }
  try {
    await run(plan, children, folder)
    return 0
  } catch (error) {
    if (stopping === undefined)
      console.error(`bench: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  } finally {
    await stop()
  }
}

process.exit(await main())
