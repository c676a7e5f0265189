/**
 * `npm run bench`: Strand and what it is compared with on core 0, the load generators on core 1, in interleaved rounds. See
 * README.md.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runTool } from '../tools/run-tool.ts'
import { runSteps } from '../tools/steps.ts'
import { Bench, type Measure, type Plan, type Result } from './bench.ts'
import { goalMeasures, goalTable } from './goals.ts'
import { LOAD_CORE, moveTo } from './load/processes.ts'
import { requireWrk } from './load/wrk.ts'
import { viewers, writers } from './measures/beside.ts'
import { bytes } from './measures/bytes.ts'
import { campaigns } from './measures/campaigns.ts'
import { demo } from './measures/demo.ts'
import { events } from './measures/events.ts'
import { growth } from './measures/growth.ts'
import { harness } from './measures/harness.ts'
import { imports } from './measures/imports.ts'
import { largeStore } from './measures/large-store.ts'
import { nodes } from './measures/nodes.ts'
import { overload } from './measures/overload.ts'
import { scenarioMeasure } from './measures/scenario.ts'
import { starts, verbs } from './measures/starts.ts'
import { streamChanges } from './measures/stream-changes.ts'
import { packaged, published, watched } from './measures/video.ts'
import { publish, resultTable } from './report.ts'
import { scenarios } from './scenarios/index.ts'
import { SMALLEST } from './world/world.ts'

/** Starts come before a server of the world is up: it would share the core. */
const STANDARD: readonly Measure[] = [
  starts,
  verbs,
  harness,
  imports,
  bytes,
  streamChanges,
  demo,
  events,
  ...scenarios.map(scenarioMeasure),
  writers,
  viewers,
  growth,
  overload,
  watched,
  packaged,
  published,
  campaigns,
]
const ALL: readonly Measure[] = [...STANDARD, nodes, largeStore]

const USAGE = `npm run bench -- [flags]

  --goals              measure the table of goals: at most twelve minutes
  --quick              2,000 streams, 20,000 entitlements, two rounds of 1 s: an impression, not a result
  --only <name>        measure only this; repeatable:
                       ${ALL.map(each => each.name).join('\n                       ')}
  --streams <n>        live streams; default: 100000
  --entitlements <n>   entitlements; default: ten per stream
  --rounds <n>         number of rounds; default: 3
  --seconds <n>        length of a round; default: 3
  --connections <n,n>  of stream-changes; default: 32,200,600
  --write              replace the block of bench/README.md that the run measures: goals, results, or that of --only`

/** With the blocks of the README that the run measures. */
type BlockPlan = Plan & { readonly blocks: readonly string[] }

function readPlan(words: readonly string[]): BlockPlan | 'help' {
  const { values: flags } = parseArgs({
    args: [...words],
    options: {
      goals: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      streams: { type: 'string' },
      entitlements: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      connections: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { goals, quick, only, write } = flags
  if (flags.help) return 'help'
  const number = (name: 'streams' | 'entitlements' | 'rounds' | 'seconds', standard: number, least = 1) => {
    const value = Number(flags[name] ?? standard)
    if (Number.isInteger(value) && value >= least) return value
    throw new Error(`invalid --${name}: must be a whole number of at least ${least}`)
  }
  const unknown = only.filter(name => !ALL.some(each => each.name === name))
  if (unknown.length > 0) throw new Error(`unknown --only: ${unknown.join(', ')}`)
  if (goals && only.length > 0) throw new Error('--goals cannot be combined with --only')
  const streams = number('streams', quick ? 2000 : 100_000, SMALLEST.streams)
  const standard = goals ? goalMeasures : STANDARD
  const blocks = goals ? ['goals', 'results'] : [only[0] ?? 'results']
  if (write) requireBlocks(blocks)
  return {
    blocks,
    size: { streams, entitlements: number('entitlements', 10 * streams, SMALLEST.entitlements) },
    pace: {
      rounds: number('rounds', quick ? 2 : 3),
      seconds: number('seconds', quick ? 1 : 3),
      warmUpSeconds: quick ? 1 : 8,
    },
    connections: (flags.connections ?? (quick ? '200' : '32,200,600')).split(',').map(Number),
    measures: only.length === 0 ? standard : ALL.filter(({ name }) => only.includes(name)),
    write,
  }
}

/** Known before an hour of measuring. */
function requireBlocks(names: readonly string[]): void {
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  for (const name of names)
    if (!readme.includes(`<!-- ${name} -->`))
      throw new Error(`--write: no block <!-- ${name} --> in bench/README.md`)
}

process.exit(
  await runTool({
    name: 'bench',
    usage: USAGE,
    failed: 1,
    readPlan,
    run: async (plan, folder, lifetime) => {
      requireWrk()
      moveTo(LOAD_CORE, process.pid)
      const bench = new Bench(plan, folder)
      lifetime.onClose(() => bench.processes.stopAll())
      const found = new Map<string, readonly Result[]>()
      const steps = plan.measures.map(measure => ({
        name: measure.name,
        seconds: measure.seconds(plan),
        run: async () => {
          found.set(measure.name, await measure.run(bench))
          await bench.processes.stopDatabases()
        },
      }))
      await runSteps(steps, progress => console.error(`bench: ${progress}`))
      const results = [...found.values()].flat()
      const tableOf = (block: string) => (block === 'goals' ? goalTable(found) : resultTable(results))
      const tables = Object.fromEntries(plan.blocks.map(block => [block, tableOf(block)]))
      publish(plan, tables, results)
      return 0
    },
  }),
)
