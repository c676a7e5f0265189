/**
 * `npm run bench`: Strand and what it is held against on core 0, the load generator on core 1, in interleaved rounds.
 * See README.md.
 */
import { runTool } from '../tools/run-tool.ts'
import { runCallers } from './callers.ts'
import { Children } from './children.ts'
import { runEvents } from './events/run.ts'
import { runEverything } from './everything.ts'
import { requireTools } from './load.ts'
import { runNodes } from './nodes.ts'
import { readPlan, USAGE } from './options.ts'
import { runOverload } from './overload.ts'
import { runSoak } from './soak.ts'

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
