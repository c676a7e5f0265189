import type { Database } from '../database.ts'
import { PARTITION_STATE, type StoredPartition } from '../partition-layout.ts'
import { verbatim } from '../sql/tag.ts'

export const partitionQueries = (db: Database, engine: 'sqlite' | 'postgres') => ({
  /** Every partition of the store. Empty if it has none, as the embedded store always is. */
  stored: async (): Promise<readonly StoredPartition[]> =>
    engine === 'sqlite' ? [] : db.all<StoredPartition>(verbatim(PARTITION_STATE)),
})
