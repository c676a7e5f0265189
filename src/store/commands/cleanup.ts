import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, sql, storeClock } from '../sql/tag.ts'
import { endUnauthorizedSubscriptions } from './end-subscriptions.ts'
import { IDEMPOTENCY_MILLISECONDS } from './markers.ts'

const FEED_MILLISECONDS = 10 * 60 * 1000
/** Used codes are kept for a month: presenting one again revokes its tokens. */
const REPLAY_MILLISECONDS = 30 * 24 * 3600 * 1000
/** Maximum rows of one kind deleted per call, so that a sweep never holds the writer for long. */
const BATCH_SIZE = 1000
/** Deleting a video deletes its markers too, which may be many. */
const VIDEO_BATCH_SIZE = 100
const DAY_MILLISECONDS = 24 * 3600 * 1000
/** Every rate limit is full again within this time. */
const MAX_WINDOW_MILLISECONDS = DAY_MILLISECONDS

/**
 * Deletes expired rows: feed entries, idempotency keys, tokens, retired and expired stream keys, codes, sessions, and rate limits that
 * are full again. Expired tokens, which grant nothing, can be kept for some more days.
 *
 * Feed entries and rate limits are expendable, and expire by the current clock; those dated in the future are deleted too,
 * because they were written while the clock was ahead. Everything else expires by the settled time.
 */
export async function sweep(
  tx: Transaction,
  args: { now: number; settled: number; keepTokensDays?: number | undefined },
): Promise<number> {
  const settled = isoMillis(args.settled)
  const tokensFrom = isoMillis(args.settled - (args.keepTokensDays ?? 0) * DAY_MILLISECONDS)
  const expired = [
    sql`delete from feed where seq in (select seq from feed where at < ${isoMillis(args.now - FEED_MILLISECONDS)}
          order by at limit ${BATCH_SIZE})`,
    sql`delete from feed where seq in (select seq from feed where at > ${isoMillis(args.now + FEED_MILLISECONDS)}
          order by at limit ${BATCH_SIZE})`,
    sql`delete from idempotency_keys where (client_id, user_id, name) in (
          select client_id, user_id, name from idempotency_keys
          where created_at < ${isoMillis(args.settled - IDEMPOTENCY_MILLISECONDS)} limit ${BATCH_SIZE})`,
    sql`delete from stream_keys where (user_id, version) in (
          select user_id, version from stream_keys where valid_until < ${settled} limit ${BATCH_SIZE})`,
    sql`delete from extra_stream_keys where (user_id, name) in (
          select user_id, name from extra_stream_keys where valid_until < ${settled} limit ${BATCH_SIZE})`,
    sql`delete from authorization_codes where hash in (
          select hash from authorization_codes
          where expires_at < ${isoMillis(args.settled - REPLAY_MILLISECONDS)} limit ${BATCH_SIZE})`,
    sql`delete from device_codes where hash in (
          select hash from device_codes where expires_at < ${settled} limit ${BATCH_SIZE})`,
    sql`delete from sessions where hash in (select hash from sessions where expires_at < ${settled} limit ${BATCH_SIZE})`,
    sql`delete from rate_buckets where name in (
          select name from rate_buckets where full_at < ${storeClock} limit ${BATCH_SIZE})`,
    sql`delete from rate_buckets where name in (
          select name from rate_buckets
          where full_at > ${storeClock} + cast(${MAX_WINDOW_MILLISECONDS} as bigint) limit ${BATCH_SIZE})`,
  ]
  let removed = await sweepTokens(tx, tokensFrom, args.settled)
  for (const rows of expired) removed += await tx.run(rows)
  return removed
}

/** Event subscriptions that nothing else authorizes end with their tokens (D-133). */
async function sweepTokens(tx: Transaction, expiredBefore: string, now: number): Promise<number> {
  const gone = await tx.all<{ client_id: string; user_id: string | null }>(
    sql`delete from tokens
        where hash in (select hash from tokens where expires_at < ${expiredBefore} limit ${BATCH_SIZE})
        returning client_id, user_id`,
  )
  const users = gone.flatMap(({ user_id }) => user_id ?? [])
  if (users.length === 0) return gone.length
  const depending = await tx.all<{ client_id: string; user_id: string }>(
    sql`select distinct client_id, authorized_by as user_id from event_subscriptions
        where ended_at is null and authorized_by is not null
          and ${isOneOf(sql`authorized_by`, [...new Set(users)])}`,
  )
  for (const grant of depending)
    if (gone.some(({ client_id, user_id }) => client_id === grant.client_id && user_id === grant.user_id))
      await endUnauthorizedSubscriptions(tx, { ...grant, now })
  return gone.length
}

/**
 * Deletes videos whose streams ended before `before`, and their markers; never that of a running stream. Returns how many;
 * call again until that is 0.
 */
export async function forgetVideos(tx: Transaction, args: { before: string }): Promise<number> {
  // A stream that ended before has also started before, and videos are indexed by start time.
  return tx.run(
    sql`delete from videos where id in (
          select v.id from videos v
          where v.created_at < ${args.before} and v.ended_at < ${args.before}
            and not exists (select 1 from streams s where s.video_id = v.id)
          order by v.created_at, v.id limit ${VIDEO_BATCH_SIZE})`,
  )
}

/**
 * Deletes the minutes of viewers in campaigns whose drops could be claimed until `before`, and their claims; entitlements
 * stay. Returns how many rows; call again until that is 0.
 */
export async function forgetProgress(tx: Transaction, args: { before: string }): Promise<number> {
  const ended = sql`claim_ends_at < ${args.before} and state <> 'draft'`
  const steps = [
    sql`delete from drop_progress where (campaign, user_id) in (
          select p.campaign, p.user_id from campaigns c join drop_progress p on p.campaign = c.number
          where ${ended} limit ${BATCH_SIZE})`,
    sql`delete from drop_claims where (user_id, drop_id, benefit_id) in (
          select k.user_id, k.drop_id, k.benefit_id from campaigns c join campaign_drops d on d.campaign_id = c.id
            join drop_claims k on k.drop_id = d.id
          where ${ended} limit ${BATCH_SIZE})`,
  ]
  let removed = 0
  for (const rows of steps) removed += await tx.run(rows)
  return removed
}

/** Deleting a subscription deletes its verification and revocation too. */
const SUBSCRIPTION_BATCH_SIZE = 100

/**
 * Deletes events from before `before` with their deliveries, and subscriptions that ended before, as far as they have no
 * message that is still to be sent. Returns how many rows; call again until that is 0.
 */
export async function forgetEvents(tx: Transaction, args: { before: string }): Promise<number> {
  const steps = [
    sql`delete from event_deliveries where seq in (
          select d.seq from events e join event_deliveries d on d.event_seq = e.seq
          where e.occurred_at < ${args.before} and d.due_at is null limit ${BATCH_SIZE})`,
    sql`delete from events where seq in (
          select e.seq from events e
          where e.occurred_at < ${args.before}
            and not exists (select 1 from event_deliveries d where d.event_seq = e.seq)
          order by e.occurred_at limit ${BATCH_SIZE})`,
    sql`delete from event_subscriptions where id in (
          select s.id from event_subscriptions s
          where s.ended_at < ${args.before}
            and not exists (select 1 from event_deliveries d
              where d.subscription_id = s.id and (d.due_at is not null or d.event_seq is not null))
          order by s.ended_at limit ${SUBSCRIPTION_BATCH_SIZE})`,
  ]
  let removed = 0
  for (const rows of steps) removed += await tx.run(rows)
  return removed
}

export async function setFact(tx: Transaction, args: { name: string; value: string }): Promise<void> {
  await tx.run(
    sql`insert into facts (name, value) values (${args.name}, ${args.value})
        on conflict (name) do update set value = excluded.value`,
  )
}
