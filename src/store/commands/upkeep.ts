import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import { sql, storeClock } from '../sql/tag.ts'
import { IDEMPOTENCY_MILLISECONDS } from './markers.ts'

const FEED_MILLISECONDS = 10 * 60 * 1000
/** A used code is remembered for a month: whoever presents it again ends what it gave. */
const REPLAY_MILLISECONDS = 30 * 24 * 3600 * 1000
/** Rows of one kind that a single turn removes at most: upkeep never holds the writer for long. */
const AT_ONCE = 1000

/** Removes what has run out: feed entries, idempotency keys, tokens, retired stream keys, codes, sessions, and rate limits
 * that are full again. */
export async function sweep(tx: Transaction, args: { now: number }): Promise<number> {
  const now = isoMillis(args.now)
  let removed = 0
  removed += await tx.run(
    sql`delete from feed where seq in (select seq from feed where at < ${isoMillis(args.now - FEED_MILLISECONDS)}
          order by at limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from idempotency_keys where (client_id, user_id, name) in (
          select client_id, user_id, name from idempotency_keys
          where created_at < ${isoMillis(args.now - IDEMPOTENCY_MILLISECONDS)} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from tokens where hash in (select hash from tokens where expires_at < ${now} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from stream_keys where (user_id, version) in (
          select user_id, version from stream_keys where valid_until < ${now} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from authorization_codes where hash in (
          select hash from authorization_codes
          where expires_at < ${isoMillis(args.now - REPLAY_MILLISECONDS)} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from device_codes where hash in (
          select hash from device_codes where expires_at < ${now} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from sessions where hash in (select hash from sessions where expires_at < ${now} limit ${AT_ONCE})`,
  )
  removed += await tx.run(
    sql`delete from rate_buckets where name in (
          select name from rate_buckets where full_at < ${storeClock} limit ${AT_ONCE})`,
  )
  return removed
}

export async function noteFact(tx: Transaction, args: { name: string; value: string }): Promise<void> {
  await tx.run(
    sql`insert into facts (name, value) values (${args.name}, ${args.value})
        on conflict (name) do update set value = excluded.value`,
  )
}
