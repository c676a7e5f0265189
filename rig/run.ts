/** `npm run rig`: faults against a whole cluster on one machine, and a judge of what its clients saw. See README.md. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Lifetime } from '../src/kit/lifetime.ts'
import { runEverything } from './everything.ts'
import { readPlan, USAGE } from './options.ts'
import { say } from './progress.ts'

const ROOM = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/** Whatever happens, every process that was started is ended and the folder removed. */
async function main(): Promise<number> {
  let plan: ReturnType<typeof readPlan>
  try {
    plan = readPlan(process.argv.slice(2))
  } catch (error) {
    console.error(`rig: ${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  if (plan === 'help') {
    console.log(USAGE)
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'strand-rig-'))
  const lifetime = new Lifetime()
  if (plan.keep) say(`logs and data are in ${folder}`)
  else lifetime.onClose(() => rmSync(folder, { recursive: true, force: true }))
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
    return (await runEverything(plan, folder, lifetime)) ? 0 : 1
  } catch (error) {
    if (stopping === undefined) console.error(`rig: ${error instanceof Error ? error.stack : String(error)}`)
    return 3
  } finally {
    await stop()
  }
}

/** The runtime asks for 256 things at once and no more, unless its surroundings said otherwise when it was started. */
async function startAgainWithRoom(): Promise<number> {
  const child = Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, [ROOM]: '4096' },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return child.exited
}

process.exit(await (process.env[ROOM] === undefined ? startAgainWithRoom() : main()))
