/** One thing that the run does, and about how long it takes. */
export interface Step {
  readonly name: string
  readonly seconds: number
  run(): Promise<void>
}

export function say(progress: string): void {
  console.error(`rig: ${progress}`)
}

/** Takes the steps in order and says before each how much is left. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const left = steps.slice(index).reduce((sum, each) => sum + each.seconds, 0)
    say(`${index + 1} of ${steps.length}, ${timeLeft(left)}: ${step.name}`)
    await step.run()
  }
}

function timeLeft(seconds: number): string {
  return seconds < 90
    ? `about ${Math.ceil(seconds / 10) * 10} s left`
    : `about ${Math.round(seconds / 60)} minutes left`
}
