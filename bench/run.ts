/**
 * `npm run bench`: Strand and what it is compared with on core 0, the load generators on core 1, in interleaved rounds. See
 * README.md.
 */
import { parseArgs } from 'node:util'
import { runTool } from '../tools/run-tool.ts'
import { Bench, type Measure, type Plan, type Result } from './bench.ts'
import { LOAD_CORE, moveTo } from './load/processes.ts'
import { campaigns } from './measures/campaigns.ts'
import { scenarioMeasure } from './measures/compare.ts'
import { demo } from './measures/demo.ts'
import { events } from './measures/events.ts'
import { growth } from './measures/growth.ts'
import { layers } from './measures/layers.ts'
import { overload } from './measures/overload.ts'
import { pages } from './measures/pages.ts'
import { install, starts } from './measures/starts.ts'
import { published, watched } from './measures/video.ts'
import { publish } from './report.ts'
import { scenarios } from './scenarios.ts'

/** Starts come first, while nothing else runs. */
const OF_GOALS: readonly Measure[] = [install, starts, ...scenarios.map(scenarioMeasure), growth, pages, demo]
const ALL: readonly Measure[] = [...OF_GOALS, layers, events, overload, watched, published, campaigns]

const USAGE = `npm run bench -- [flags]

  --goals              what requests, pages and starts cost: about half an hour
  --quick              2,000 streams, 20,000 entitlements, two rounds of 1 s: an impression, not a result
  --only <name>        measure only this; repeatable:
                       ${ALL.map(each => each.name).join('\n                       ')}
  --write              replace the values of these measures in bench/README.md and in the chart`

const SMALL = {
  size: { streams: 2000, entitlements: 20_000 },
  pace: { rounds: 2, seconds: 1, warmUpSeconds: 1 },
}
const FULL = {
  size: { streams: 100_000, entitlements: 1_000_000 },
  pace: { rounds: 11, seconds: 1, warmUpSeconds: 5 },
}

function readPlan(words: readonly string[]): Plan | 'help' {
  const flag = { type: 'boolean', default: false } as const
  const only = { type: 'string' as const, multiple: true as const, default: [] as string[] }
  const options = { goals: flag, quick: flag, only, write: flag, help: flag }
  const { values } = parseArgs({ args: [...words], options })
  if (values.help) return 'help'
  const unknown = values.only.filter(name => !ALL.some(each => each.name === name))
  if (unknown.length > 0) throw new Error(`unknown --only: ${unknown.join(', ')}`)
  const named = ALL.filter(({ name }) => values.only.includes(name))
  if (values.goals && named.length > 0) throw new Error('--goals cannot be combined with --only')
  if (values.quick && values.write) throw new Error('--quick cannot be combined with --write')
  const measures = values.goals ? OF_GOALS : named.length > 0 ? named : ALL
  return { ...(values.quick ? SMALL : FULL), measures, write: values.write }
}

process.exit(
  await runTool({
    name: 'bench',
    usage: USAGE,
    failed: 1,
    readPlan,
    run: async (plan, folder, lifetime) => {
      const missing = ['wrk', 'taskset'].filter(tool => Bun.which(tool) === null)
      if (missing.length > 0)
        throw new Error(`${missing.join(' and ')} not found: install wrk and util-linux (Linux only)`)
      moveTo(LOAD_CORE, process.pid)
      const bench = new Bench(plan, folder)
      lifetime.onClose(() => bench.processes.stopAll())
      const measured: [Measure, readonly Result[]][] = []
      for (const [n, measure] of plan.measures.entries()) {
        console.error(`bench: ${n + 1} of ${plan.measures.length}: ${measure.name}`)
        // What has been measured is worth keeping when another measure fails.
        const results = await measure
          .run(bench)
          .catch(error => console.error(`bench: ${measure.name}:`, error))
        if (results) measured.push([measure, results])
        await bench.processes.stopDatabases()
      }
      publish(plan, measured)
      return measured.length === plan.measures.length ? 0 : 1
    },
  }),
)
