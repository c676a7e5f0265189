import { type BucketSize, refilled } from '../../kit/queues/token-buckets.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, sql, storeClock, valuesTable } from '../sql/tag.ts'

/** A bucket shared by several processes. */
interface SharedBucket extends BucketSize {
  readonly name: string
}

/** A request for points of one bucket, which the process then spends locally. */
export interface LeaseRequest {
  readonly name: string
  readonly capacity: number
  readonly wanted: number
  /** Points granted earlier and not spent. */
  readonly returned: number
  /** Points spent without a grant: deducted now, before the refill since the last lease, which may cover them. */
  readonly spent: number
  /** The part of `spent` that is too recent to have been refilled, even in a full bucket. */
  readonly recent: number
}

export interface LeaseGrant {
  readonly granted: number
  /** Points left for other processes. */
  readonly left: number
}

/**
 * Grants points of several buckets at once. All grants together never exceed what a bucket holds; points spent in advance
 * can take it below zero, to minus its capacity at most.
 */
export async function leasePoints(
  tx: Transaction,
  args: { requests: readonly LeaseRequest[]; fullAfterSeconds: number },
): Promise<LeaseGrant[]> {
  const { requests, fullAfterSeconds } = args
  const names = requests.map(({ name }) => name)
  // Of two transactions that need the same new bucket, one waits here for the other; all use the same order.
  // A new bucket starts full.
  const fresh = requests
    .map(({ name, capacity }) => ({ name, capacity }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await tx.run(
    sql`insert into rate_buckets (name, points, at, full_at)
        select name, cast(capacity as double precision), 0, ${storeClock}
        from ${valuesTable(fresh, ['name', 'capacity'])} as fresh where true order by name
        on conflict (name) do nothing`,
  )
  await tx.lock(
    sql`select name from rate_buckets where ${isOneOf(sql`name`, names)} order by name`,
    'rate_buckets',
  )
  const rows = await tx.all<{ name: string; points: number; passed: number | string }>(
    sql`select name, points, ${storeClock} - at as passed from rate_buckets where ${isOneOf(sql`name`, names)}`,
  )
  const held = new Map(rows.map(row => [row.name, row]))
  const grants: LeaseGrant[] = []
  const changed: { name: string; points: number; fills: number }[] = []
  for (const { name, capacity, wanted, returned, spent, recent } of requests) {
    const row = held.get(name)
    if (row === undefined) throw new Error('the bucket was just created and locked')
    const before = row.points + returned - spent
    const left = refilled(before, Number(row.passed), { capacity, fullAfterSeconds })
    const points = Math.max(-capacity, Math.min(capacity - recent, left))
    const granted = Math.max(0, Math.min(wanted, Math.floor(points)))
    const kept = points - granted
    grants.push({ granted, left: Math.max(0, Math.floor(kept)) })
    const fills = Math.ceil(fullAfterSeconds * 1000 * Math.max(1, (capacity - kept) / capacity))
    changed.push({ name, points: kept, fills })
  }
  await tx.run(
    sql`update rate_buckets set points = cast(changed.points as double precision), at = ${storeClock},
          full_at = ${storeClock} + cast(changed.fills as bigint)
        from ${valuesTable(changed, ['name', 'points', 'fills'])} as changed where rate_buckets.name = changed.name`,
  )
  return grants
}

/** Takes one point from each bucket, or none if any is empty. */
export async function takeFromAll(
  tx: Transaction,
  args: { buckets: readonly SharedBucket[] },
): Promise<boolean> {
  const held: { bucket: SharedBucket; points: number }[] = []
  for (const bucket of args.buckets) {
    const points = await pointsIn(tx, bucket)
    if (points < 1) return false
    held.push({ bucket, points })
  }
  for (const { bucket, points } of held) await setPoints(tx, bucket, points - 1)
  return true
}

/** Returns one point to each bucket, and fills those named. */
export async function giveBack(
  tx: Transaction,
  args: { buckets: readonly SharedBucket[]; filled: readonly string[] },
): Promise<void> {
  for (const bucket of args.buckets) {
    const points = args.filled.includes(bucket.name) ? bucket.capacity : (await pointsIn(tx, bucket)) + 1
    await setPoints(tx, bucket, Math.min(bucket.capacity, points))
  }
}

/** The current level of a bucket, which stays locked until the end of the transaction. A new bucket is full. */
async function pointsIn(tx: Transaction, bucket: SharedBucket): Promise<number> {
  const { name, capacity } = bucket
  // Of two concurrent first uses, one waits here for the other.
  await tx.run(
    sql`insert into rate_buckets (name, points, at, full_at) values (${name}, ${capacity}, ${storeClock}, ${storeClock})
        on conflict (name) do nothing`,
  )
  await tx.lock(sql`select name from rate_buckets where name = ${name}`, 'rate_buckets')
  const row = await tx.get<{ points: number; passed: number | string }>(
    sql`select points, ${storeClock} - at as passed from rate_buckets where name = ${name}`,
  )
  if (row === undefined) throw new Error('the bucket was just created and locked')
  const passed = Number(row.passed)
  if (passed < 0) {
    // The clock was set back. Refill from now on: otherwise the bucket stays empty until the clock catches up.
    await setPoints(tx, bucket, row.points)
    return row.points
  }
  return refilled(row.points, passed, bucket)
}

async function setPoints(
  tx: Transaction,
  { name, fullAfterSeconds }: SharedBucket,
  points: number,
): Promise<void> {
  await tx.run(
    sql`update rate_buckets set points = ${points}, at = ${storeClock},
          full_at = ${storeClock} + cast(${fullAfterSeconds * 1000} as bigint)
        where name = ${name}`,
  )
}
