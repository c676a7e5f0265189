import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { insertEntitlements } from './insert-entitlements.ts'

const BATCH_SIZE = 10_000

/** Many entitlements of one benefit, described instead of listed. */
interface BulkGrant {
  readonly organization_id: string
  readonly benefit_id: string
  readonly game_id: string
  /** Who gets them, in turn. */
  readonly user_ids: readonly string[]
  readonly count: number
  /** How many of them, from the first, are fulfilled. */
  readonly fulfilled: number
  /** The first 24 characters of the ids, which are counted from 1. */
  readonly id_prefix: string
  /** The time of the first; each later one follows after a millisecond, until now. */
  readonly oldest: number
  readonly now: number
}

/** Fills a demo. What is described is known to exist, and nothing has subscribed yet, so there are no checks and no events. */
export async function addEntitlements(tx: Transaction, grant: BulkGrant): Promise<void> {
  const { organization_id, benefit_id, game_id, user_ids, count, fulfilled, oldest, now } = grant
  for (let start = 0; start < count; start += BATCH_SIZE) {
    const rows = Array.from({ length: Math.min(BATCH_SIZE, count - start) }, (_, offset) => {
      const index = start + offset
      const timestamp = isoMillis(Math.min(oldest + index, now))
      const isFulfilled = index < fulfilled
      return {
        id: `${grant.id_prefix}${(index + 1).toString(16).padStart(12, '0')}`,
        organization_id,
        benefit_id,
        game_id,
        user_id: user_ids[index % user_ids.length] as string,
        timestamp,
        fulfillment_status: isFulfilled ? ('FULFILLED' as const) : ('CLAIMED' as const),
        last_updated: isFulfilled ? isoMillis(now) : timestamp,
      }
    })
    await insertEntitlements(tx, rows)
  }
}
