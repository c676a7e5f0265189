import { runProgram } from './cli/program.ts'
import type { DemoRequest, StartedDemo } from './testing/demo-request.ts'

/** For `startStrand` under Bun, which loads the program instead of running it. */
export async function startInProcess(request: DemoRequest): Promise<StartedDemo> {
  const inProcess = await import('./testing/in-process.ts')
  return inProcess.startInProcess(request)
}

// Without a top-level await, which a bundle with bytecode cannot have.
if (import.meta.main) runProgram(process.argv.slice(2)).then(code => process.exit(code))
