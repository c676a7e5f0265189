import { type BucketSize, refilled } from '../../kit/token-buckets.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, sql, storeClock, tableOf } from '../sql/tag.ts'

/** A bucket that several processes draw from. */
interface SharedBucket extends BucketSize {
  readonly name: string
}

/** A process asks for points of one bucket, to spend them without asking again. */
export interface LeaseRequest {
  readonly name: string
  readonly capacity: number
  readonly wanted: number
  /** Granted before and not spent. */
  readonly returned: number
  /** Spent without having been granted: deducted now, as far as the bucket was not full at the time. */
  readonly spent: number
  /** The part of that which not even a full bucket would have refilled since. */
  readonly recent: number
}

export interface LeaseGrant {
  readonly granted: number
  /** What others may still ask for. */
  readonly left: number
}

/**
 * Grants points of several buckets at once. The sum of what all processes are granted is what a bucket holds; what a process
 * spent beforehand may take it below zero, down to minus one capacity.
 */
export async function leasePoints(
  tx: Transaction,
  args: { requests: readonly LeaseRequest[]; fullAfterSeconds: number },
): Promise<LeaseGrant[]> {
  const { requests, fullAfterSeconds } = args
  const names = requests.map(({ name }) => name)
  // Of two transactions that need the same new bucket, one waits here for the other; all take them in the same order.
  // A new bucket has been full for ever.
  const fresh = requests
    .map(({ name, capacity }) => ({ name, capacity }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await tx.run(
    sql`insert into rate_buckets (name, points, at, full_at)
        select name, cast(capacity as double precision), 0, ${storeClock}
        from ${tableOf(fresh, ['name', 'capacity'])} as fresh where true order by name
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
    if (row === undefined) throw new Error('the bucket was made and is held')
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
    sql`update rate_buckets set points = cast(news.points as double precision), at = ${storeClock},
          full_at = ${storeClock} + cast(news.fills as bigint)
        from ${tableOf(changed, ['name', 'points', 'fills'])} as news where rate_buckets.name = news.name`,
  )
  return grants
}

/** Takes a point from each of several buckets, or none from any if one is empty. */
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

/** Gives a point back to each, and fills those named. */
export async function giveBack(
  tx: Transaction,
  args: { buckets: readonly SharedBucket[]; filled: readonly string[] },
): Promise<void> {
  for (const bucket of args.buckets) {
    const points = args.filled.includes(bucket.name) ? bucket.capacity : (await pointsIn(tx, bucket)) + 1
    await setPoints(tx, bucket, Math.min(bucket.capacity, points))
  }
}

/** What a bucket holds now; it is held until the end of the transaction. One that nobody knew is full. */
async function pointsIn(tx: Transaction, bucket: SharedBucket): Promise<number> {
  const { name, capacity } = bucket
  // Of two who come first, one waits here for the other.
  await tx.run(
    sql`insert into rate_buckets (name, points, at, full_at) values (${name}, ${capacity}, ${storeClock}, ${storeClock})
        on conflict (name) do nothing`,
  )
  await tx.lock(sql`select name from rate_buckets where name = ${name}`, 'rate_buckets')
  const row = await tx.get<{ points: number; passed: number | string }>(
    sql`select points, ${storeClock} - at as passed from rate_buckets where name = ${name}`,
  )
  if (row === undefined) throw new Error('the bucket was made and is held')
  const passed = Number(row.passed)
  if (passed < 0) {
    // The clock was set back. The bucket fills from here on: it would stay empty until the clock is there again otherwise.
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

/**
 * Takes or keeps the turn to do something that only one process should do at a time. It lasts `seconds` from now; whoever
 * has it asks again before it ends, and if that one has died, another gets it. All ask for the same length: a turn that ends
 * later than one that begins now was taken before the clock was set back, and counts for nothing.
 */
export async function takeTurn(
  tx: Transaction,
  args: { name: string; holder: string; seconds: number },
): Promise<boolean> {
  const until = sql`${storeClock} + cast(${args.seconds * 1000} as bigint)`
  const taken = await tx.run(
    sql`insert into turns (name, holder, until) values (${args.name}, ${args.holder}, ${until})
        on conflict (name) do update set holder = excluded.holder, until = excluded.until
        where turns.holder = excluded.holder or turns.until < ${storeClock} or turns.until > excluded.until`,
  )
  return taken > 0
}
