/** What it costs Strand that the viewers of everybody change every five seconds. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { viewerReports } from '../load/control-flows.ts'
import type { PacedPlan } from '../load/paced-load.ts'
import { processorSecondsOf } from '../load/process-usage.ts'
import type { Single } from '../report/metrics.ts'
import type { Disturbance, Ground } from './measure.ts'

export const REPORTING_SECONDS = 20

/** Reports at their fixed rate. One that fails ends the run. */
export function viewerReporting({ children, folder, strand, world }: Ground): Disturbance {
  const flows = [viewerReports(world)]
  return {
    name: 'viewer reports',
    run: async seconds => {
      const plan = { url: strand.url, seconds, reportEverySeconds: seconds, flows } satisfies PacedPlan
      const planFile = join(folder, 'viewers.json')
      writeFileSync(planFile, JSON.stringify(plan))
      for await (const report of children.runPacedLoad(planFile)) {
        const { errors, violation } = report.flows.viewers ?? { errors: 1 }
        if (errors > 0) throw new Error(`${errors} reports of viewers failed: ${violation}`)
      }
    },
  }
}

/** The share of its core that a server spends on the reports while nobody reads. */
export async function measureReporting(ground: Ground, reporting: Disturbance): Promise<Single> {
  const before = processorSecondsOf(ground.strand.pid)
  const began = performance.now()
  await reporting.run(REPORTING_SECONDS)
  const seconds = (performance.now() - began) / 1000
  const share = (processorSecondsOf(ground.strand.pid) - before) / seconds
  const channels = ground.world.size.streams.toLocaleString('en-US')
  return {
    name: `Viewers of ${channels} channels every 5 s`,
    value: 100 * share,
    unit: '% of a core',
    atMost: 25,
  }
}
