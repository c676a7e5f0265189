import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Lifetime } from '../src/kit/lifetime.ts'

/** A program that stands beside the product: it reads flags and starts servers of its own. */
export interface Tool<Plan> {
  readonly name: string
  readonly usage: string
  /** What is asked for. Throws with a sentence if that cannot be. */
  readPlan(words: readonly string[]): Plan | 'help'
  /** Does it, and gives the exit code. What it opens is closed with the lifetime. */
  run(plan: Plan, folder: string, lifetime: Lifetime): Promise<number>
  /** Whether the folder is left behind. */
  keepsFolder?(plan: Plan): boolean
  /** The exit code if it could not be done at all. */
  readonly failed: number
}

/** Whatever happens, every process that was started is ended and the folder removed. */
export async function runTool<Plan extends object>(tool: Tool<Plan>): Promise<number> {
  let plan: Plan | 'help'
  try {
    plan = tool.readPlan(process.argv.slice(2))
  } catch (error) {
    console.error(`${tool.name}: ${(error as Error).message}\n\n${tool.usage}`)
    return 2
  }
  if (plan === 'help') {
    console.log(tool.usage)
    return 0
  }
  return runPlan(tool, plan)
}

async function runPlan<Plan>(tool: Tool<Plan>, plan: Plan): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), `strand-${tool.name}-`))
  const lifetime = new Lifetime()
  if (tool.keepsFolder?.(plan)) console.error(`${tool.name}: logs and data are in ${folder}`)
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
    return await tool.run(plan, folder, lifetime)
  } catch (error) {
    if (stopping === undefined)
      console.error(`${tool.name}: ${error instanceof Error ? error.stack : String(error)}`)
    return tool.failed
  } finally {
    await stop()
  }
}
