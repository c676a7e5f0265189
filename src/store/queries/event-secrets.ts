import type { MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { limitedTo, sql } from '../sql/tag.ts'

/** The secret of a webhook as it is encrypted in the store. */
export interface EventSecretRow {
  /** Of the subscription. */
  readonly id: string
  readonly key_id: string
  readonly sealed: string
}

export const eventSecretQueries = (db: Database) => ({
  /** All secrets in order, after a subscription. `except` skips those sealed with that master key. */
  after: (id: string, limit: number, except = ''): MaybePromise<EventSecretRow[]> =>
    db.all<EventSecretRow>(
      sql`select id, key_id, sealed from event_subscriptions
          where id > ${id} and key_id is not null and key_id <> ${except} order by id${limitedTo(limit)}`,
    ),

  /** The number of secrets sealed with each master key. */
  countByMasterKey: async (): Promise<Map<string, number>> => {
    const rows = await db.all<{ key_id: string; count: number | string }>(
      sql`select key_id, count(*) as count from event_subscriptions
          where key_id is not null group by key_id order by key_id`,
    )
    return new Map(rows.map(row => [row.key_id, Number(row.count)]))
  },
})
