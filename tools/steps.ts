import { formatDuration } from '../src/cli/terminal/progress.ts'

/** One part of a run, and about how long it takes on the machine that the figures are from. */
export interface Step {
  readonly name: string
  readonly seconds: number
  run(): Promise<void>
}

/**
 * Takes the steps in order and says before each how much is left. What they were thought to take is corrected by how long
 * those before took: another machine is slower or faster at all of them.
 */
export async function runSteps(steps: readonly Step[], printLine: (progress: string) => void): Promise<void> {
  const began = performance.now()
  let thought = 0
  for (const [index, step] of steps.entries()) {
    const left = steps.slice(index).reduce((sum, each) => sum + each.seconds, 0)
    const correction = thought === 0 ? 1 : (performance.now() - began) / 1000 / thought
    printLine(
      `${index + 1} of ${steps.length}, about ${formatDuration(left * correction)} left: ${step.name}`,
    )
    await step.run()
    thought += step.seconds
  }
}
