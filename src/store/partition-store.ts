/** Gives a store on PostgreSQL partitions. */
import type { SQL } from 'bun'
import { hostUrls } from '../kit/connection-url.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { LabelledStep } from './engines/labelled-step.ts'
import { abandonSteps, type PartitionOptions, partitionSteps } from './engines/partition-steps.ts'
import { translatePostgresError } from './engines/postgres-connection.ts'
import { MigrationStalled, postgresSchema, runSteps } from './engines/postgres-migrate.ts'
import { Primary } from './engines/postgres-primary.ts'
import { Unavailable } from './errors.ts'

export interface PartitionRun extends PartitionOptions {
  readonly pooled: boolean
  /** Removes what an interrupted run has left, instead. */
  readonly abandon?: boolean
  /** Called with progress lines. */
  readonly report?: (line: string) => void
}

/** The steps that are left, without taking them. */
export function planPartitions(url: string, run: PartitionRun): Promise<readonly LabelledStep[]> {
  return onPrimary(url, run, async connect => {
    const client = connect()
    try {
      return await stepsLeft(client, run)
    } finally {
      await client.close({ timeout: 1 })
    }
  })
}

/** Takes the steps that are left. Returns how many there were. */
export function partitionStore(url: string, run: PartitionRun): Promise<number> {
  return onPrimary(url, run, connect => runSteps(connect, run, client => stepsLeft(client, run)))
}

type Queryable = Pick<SQL, 'unsafe'>

async function stepsLeft(client: Queryable, run: PartitionRun): Promise<LabelledStep[]> {
  const { verdict, version, known } = await postgresSchema(client)
  if (verdict !== 'current') {
    throw new OperatorError(
      `the store has schema ${version} and this version of Strand has ${known}: use the same version, or run strand migrate first`,
    )
  }
  return run.abandon === true ? abandonSteps(client) : partitionSteps(client, run)
}

async function onPrimary<T>(
  url: string,
  { pooled }: PartitionRun,
  work: (connect: () => SQL) => Promise<T>,
): Promise<T> {
  const primary = new Primary(hostUrls(url), { connections: 2, pooled })
  try {
    const { connectSeparately } = await primary.pools()
    return await work(() => connectSeparately({ statement_timeout: 0, lock_timeout: 0 }))
  } catch (thrown) {
    const error = translatePostgresError(thrown)
    if (error instanceof MigrationStalled) throw new OperatorError(error.message)
    if (error instanceof Unavailable) throw new OperatorError(`PostgreSQL: ${error.message}`)
    throw error
  } finally {
    await primary.close()
  }
}
