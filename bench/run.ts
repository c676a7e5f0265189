/**
 * `npm run bench`: Strand and what it is held against on core 0, the load generator on core 1, in interleaved rounds.
 * See README.md.
 */
import { runTool } from '../tools/run-tool.ts'
import { runEvents } from './events/run.ts'
import { Children } from './load/children.ts'
import { requireTools } from './load/load.ts'
import { readPlan, USAGE } from './options.ts'
import { runCallers } from './runs/callers.ts'
import { runEverything } from './runs/everything.ts'
import { runNodes } from './runs/nodes.ts'
import { runOverload } from './runs/overload.ts'
import { runSoak } from './runs/soak.ts'

process.exit(
  await runTool({
    name: 'bench',
    usage: USAGE,
    failed: 1,
    readPlan,
    run: async (plan, folder, lifetime) => {
      await requireTools()
      const children = new Children()
      lifetime.onClose(() => children.stopAll())
      if (plan.kind === 'soak') await runSoak(plan, children, folder)
      else if (plan.kind === 'callers') await runCallers(plan, children, folder)
      else if (plan.kind === 'events') await runEvents(plan, children, folder)
      else if (plan.kind === 'overload') await runOverload(plan, children, folder)
      else if (plan.kind === 'nodes') await runNodes(plan, children, folder)
      else await runEverything(plan, children, folder)
      return 0
    },
  }),
)
