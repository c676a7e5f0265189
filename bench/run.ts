/**
 * `npm run bench`: Strand and what it is held against on core 0, the load generator on core 1, in interleaved rounds.
 * See README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Lifetime } from '../src/kit/lifetime.ts'
import { Children } from './children.ts'
import { runEverything } from './everything.ts'
import { requireTools } from './load.ts'
import { runNodes } from './nodes.ts'
import { readPlan, USAGE } from './options.ts'
import { runSoak } from './soak.ts'

/** Whatever happens, every process that was started is ended and the folder removed. */
async function main(): Promise<number> {
  let plan: ReturnType<typeof readPlan>
  try {
    plan = readPlan(process.argv.slice(2))
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  if (plan === 'help') {
    console.log(USAGE)
    return 0
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
    if (plan.kind === 'soak') await runSoak(plan, children, folder)
    else if (plan.kind === 'nodes') await runNodes(plan, children, folder)
    else await runEverything(plan, children, folder)
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
