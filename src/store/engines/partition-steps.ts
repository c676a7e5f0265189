/**
 * The steps that give a store partitions, while nodes use it. They are computed from the catalog: a step that was completed
 * is not among them, or has nothing left to do, so that an interrupted run continues where it stopped.
 */
import type { SQL } from 'bun'
import { TIMED_GROUPS, type TimedGroup } from '../partition-layout.ts'
import { abandonHashed, stepsOfHashed } from './hashed-steps.ts'
import type { LabelledStep } from './labelled-step.ts'
import { abandonTimed, stepsOfTimed } from './timed-steps.ts'

type Queryable = Pick<SQL, 'unsafe'>

export interface PartitionOptions {
  /** Partitions of the entitlements. */
  readonly count: number
  readonly now: number
}

/** All steps that are left. None if the store has partitions. */
export async function partitionSteps(
  client: Queryable,
  { count, now }: PartitionOptions,
): Promise<LabelledStep[]> {
  const steps = await stepsOfHashed(client, count)
  for (const [name, group] of Object.entries(TIMED_GROUPS))
    steps.push(...(await stepsOfTimed(client, name, group, now)))
  return steps
}

/** The steps that remove what an interrupted run has left. Tables that have their partitions keep them. */
export async function abandonSteps(client: Queryable): Promise<LabelledStep[]> {
  const steps = await abandonHashed(client)
  for (const group of Object.values<TimedGroup>(TIMED_GROUPS))
    steps.push(...(await abandonTimed(client, group)))
  return steps
}
