import { OperatorError } from '../kit/operator-error.ts'
import type { Config } from '../server/config.ts'
import { type PartitionRun, partitionStore, planPartitions } from '../store/partition-store.ts'

/** Gives the configured store partitions: what is left to do, and doing it. */
export function partitioningOf(
  { databaseUrl, databasePooled: pooled }: Config,
  options: Omit<PartitionRun, 'pooled'>,
) {
  if (databaseUrl === undefined)
    throw new OperatorError('the embedded store has no partitions: set DATABASE_URL to a PostgreSQL')
  const run = { ...options, pooled }
  return { plan: () => planPartitions(databaseUrl, run), run: () => partitionStore(databaseUrl, run) }
}
