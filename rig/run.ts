/** `npm run rig`: faults against a whole cluster on one machine, and a judge of what its clients saw. See README.md. */
import { runTool } from '../tools/run-tool.ts'
import { runEverything } from './everything.ts'
import { readPlan, USAGE } from './options.ts'

const ROOM = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

const strike = () =>
  runTool({
    name: 'rig',
    usage: USAGE,
    failed: 3,
    readPlan,
    keepsFolder: plan => plan.keep,
    run: async (plan, folder, lifetime) => ((await runEverything(plan, folder, lifetime)) ? 0 : 1),
  })

/** The runtime asks for 256 things at once and no more, unless its environment sets another limit when it is started. */
async function startAgainWithRoom(): Promise<number> {
  const child = Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, [ROOM]: '4096' },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return child.exited
}

process.exit(await (process.env[ROOM] === undefined ? startAgainWithRoom() : strike()))
