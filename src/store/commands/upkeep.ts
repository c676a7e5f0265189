import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import { sql, storeClock } from '../sql/tag.ts'
import { IDEMPOTENCY_MILLISECONDS } from './markers.ts'

const FEED_MILLISECONDS = 10 * 60 * 1000
/** A used code is remembered for a month: whoever presents it again ends what it gave. */
const REPLAY_MILLISECONDS = 30 * 24 * 3600 * 1000
/** Rows of one kind that a single turn removes at most: upkeep never holds the writer for long. */
const AT_ONCE = 1000
/** A video takes its markers along, which may be many. */
const VIDEOS_AT_ONCE = 100
const DAY_MILLISECONDS = 24 * 3600 * 1000
/** No rate limit takes longer to be full again. */
const MAX_WINDOW_MILLISECONDS = DAY_MILLISECONDS

/**
 * Removes what has run out: feed entries, idempotency keys, tokens, retired stream keys, codes, sessions, and rate limits
 * that are full again. Tokens are kept for some days longer if so wished: they open nothing any more.
 *
 * Feed entries and rate limits can be lost, and go by the clock as it is. Those from a time that is yet to come go too: they
 * were written while the clock was ahead. Everything else goes by the settled time.
 */
export async function sweep(
  tx: Transaction,
  args: { now: number; settled: number; keepTokensDays?: number | undefined },
): Promise<number> {
  const settled = isoMillis(args.settled)
  const tokensFrom = isoMillis(args.settled - (args.keepTokensDays ?? 0) * DAY_MILLISECONDS)
  const expired = [
    sql`delete from feed where seq in (select seq from feed where at < ${isoMillis(args.now - FEED_MILLISECONDS)}
          order by at limit ${AT_ONCE})`,
    sql`delete from feed where seq in (select seq from feed where at > ${isoMillis(args.now + FEED_MILLISECONDS)}
          order by at limit ${AT_ONCE})`,
    sql`delete from idempotency_keys where (client_id, user_id, name) in (
          select client_id, user_id, name from idempotency_keys
          where created_at < ${isoMillis(args.settled - IDEMPOTENCY_MILLISECONDS)} limit ${AT_ONCE})`,
    sql`delete from tokens where hash in (select hash from tokens where expires_at < ${tokensFrom} limit ${AT_ONCE})`,
    sql`delete from stream_keys where (user_id, version) in (
          select user_id, version from stream_keys where valid_until < ${settled} limit ${AT_ONCE})`,
    sql`delete from authorization_codes where hash in (
          select hash from authorization_codes
          where expires_at < ${isoMillis(args.settled - REPLAY_MILLISECONDS)} limit ${AT_ONCE})`,
    sql`delete from device_codes where hash in (
          select hash from device_codes where expires_at < ${settled} limit ${AT_ONCE})`,
    sql`delete from sessions where hash in (select hash from sessions where expires_at < ${settled} limit ${AT_ONCE})`,
    sql`delete from rate_buckets where name in (
          select name from rate_buckets where full_at < ${storeClock} limit ${AT_ONCE})`,
    sql`delete from rate_buckets where name in (
          select name from rate_buckets
          where full_at > ${storeClock} + cast(${MAX_WINDOW_MILLISECONDS} as bigint) limit ${AT_ONCE})`,
  ]
  let removed = 0
  for (const rows of expired) removed += await tx.run(rows)
  return removed
}

/**
 * Forgets videos whose streams ended before a moment, and their markers; never that of a running stream. Says how many;
 * called again until that is none.
 */
export async function forgetVideos(tx: Transaction, args: { before: string }): Promise<number> {
  // What has ended before has begun before: videos are kept in the order of their beginning.
  return tx.run(
    sql`delete from videos where id in (
          select v.id from videos v
          where v.created_at < ${args.before} and v.ended_at < ${args.before}
            and not exists (select 1 from streams s where s.video_id = v.id)
          order by v.created_at, v.id limit ${VIDEOS_AT_ONCE})`,
  )
}

export async function noteFact(tx: Transaction, args: { name: string; value: string }): Promise<void> {
  await tx.run(
    sql`insert into facts (name, value) values (${args.name}, ${args.value})
        on conflict (name) do update set value = excluded.value`,
  )
}
