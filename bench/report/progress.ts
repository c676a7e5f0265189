import * as steps from '../../tools/steps.ts'

export type { Step } from '../../tools/steps.ts'

export function output(progress: string): void {
  console.error(`bench: ${progress}`)
}

export const runSteps = (all: readonly steps.Step[]) => steps.runSteps(all, output)
