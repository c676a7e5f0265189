import { refuse } from '../../contract/problem.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, limitedTo, type Sql, sql, valuesTable } from '../sql/tag.ts'
import { emitFollows } from './channel-events.ts'
import { refuseUnknown } from './references.ts'

export interface Follow {
  readonly user_id: string
  readonly broadcaster_id: string
  /** Whole seconds. */
  readonly followed_at?: string | undefined
}

/** Maximum pairs that one audit entry names; the total is always recorded. */
const PAIRS_NAMED = 100

/** Adds follows, all or none. Of an existing one only the time changes, if one is given. */
export async function putFollows(tx: Transaction, args: { follows: readonly Follow[]; now: number }) {
  const user = args.follows.flatMap(follow => [follow.user_id, follow.broadcaster_id])
  const unknown = await refuseUnknown(tx, { user })
  if (unknown !== undefined) return unknown
  await lockCounts(tx, sql`${isOneOf(sql`user_id`, [...new Set(user)])}`)
  const fresh = await newFollows(tx, args.follows, args.now)
  const changed = (await putDated(tx, args.follows)) + (await putUndated(tx, args.follows, args.now))
  tx.publish({ kind: 'follows', user_ids: [...new Set(args.follows.map(follow => follow.user_id))] })
  if (changed > 0) recordFollows(tx, args.follows, changed)
  await emitFollows(tx, fresh)
  return undefined
}

/**
 * Locks the counts that a command changes with several statements, all of them in the order of the ids: each statement locks
 * in that order, but not what the next one needs.
 */
async function lockCounts(tx: Transaction, where: Sql): Promise<void> {
  await tx.lock(sql`select user_id from follow_counts where ${where} order by user_id`, 'follow_counts')
}

/** Locks the counts on the other sides of all follows of a user, who is about to be deleted. */
export async function lockCountsAround(tx: Transaction, user_id: string): Promise<void> {
  await lockCounts(
    tx,
    sql`user_id in (
          select broadcaster_id from follows where user_id = ${user_id}
          union all select user_id from follows where broadcaster_id = ${user_id}
          union all select ${user_id})`,
  )
}

/** The follows that do not exist yet, without duplicates. */
async function newFollows(tx: Transaction, follows: readonly Follow[], now: number) {
  const pairs = follows.map(({ user_id, broadcaster_id }) => ({ user_id, broadcaster_id }))
  const known = await tx.all<{ user_id: string; broadcaster_id: string }>(
    sql`select f.user_id, f.broadcaster_id from ${valuesTable(pairs, ['user_id', 'broadcaster_id'])} as given
        join follows f on f.user_id = given.user_id and f.broadcaster_id = given.broadcaster_id`,
  )
  const followKey = (row: { user_id: string; broadcaster_id: string }) =>
    `${row.user_id}/${row.broadcaster_id}`
  const old = new Set(known.map(followKey))
  const fresh = new Map<string, { user_id: string; broadcaster_id: string; followed_at: string }>()
  for (const { user_id, broadcaster_id, followed_at = isoSeconds(now) } of follows) {
    const pair = followKey({ user_id, broadcaster_id })
    if (!old.has(pair) && !fresh.has(pair)) fresh.set(pair, { user_id, broadcaster_id, followed_at })
  }
  return [...fresh.values()]
}

/** Of two follows of the same channel by the same user, the earlier time counts. */
async function putDated(tx: Transaction, follows: readonly Follow[]): Promise<number> {
  const dated = follows.flatMap(({ user_id, broadcaster_id, followed_at }) =>
    followed_at === undefined ? [] : [{ user_id, broadcaster_id, followed_at }],
  )
  if (dated.length === 0) return 0
  return tx.run(
    sql`insert into follows (user_id, broadcaster_id, followed_at)
        select user_id, broadcaster_id, min(followed_at)
        from ${valuesTable(dated, ['user_id', 'broadcaster_id', 'followed_at'])} as given
        where 1 = 1 group by user_id, broadcaster_id
        on conflict (user_id, broadcaster_id) do update set followed_at = excluded.followed_at
        where follows.followed_at <> excluded.followed_at`,
  )
}

async function putUndated(tx: Transaction, follows: readonly Follow[], now: number): Promise<number> {
  const pairs = follows.flatMap(({ user_id, broadcaster_id, followed_at }) =>
    followed_at === undefined ? [{ user_id, broadcaster_id }] : [],
  )
  if (pairs.length === 0) return 0
  return tx.run(
    sql`insert into follows (user_id, broadcaster_id, followed_at)
        select distinct user_id, broadcaster_id, cast(${isoSeconds(now)} as text)
        from ${valuesTable(pairs, ['user_id', 'broadcaster_id'])} as given where 1 = 1
        on conflict (user_id, broadcaster_id) do nothing`,
  )
}

function recordFollows(tx: Transaction, follows: readonly Follow[], changed: number): void {
  const [only] = follows
  if (only !== undefined && follows.length === 1) tx.record({ subject: followSubject(only), after: only })
  else tx.record({ subject: 'follows', after: { added: changed, follows: follows.slice(0, PAIRS_NAMED) } })
}

const followSubject = (follow: { user_id: string; broadcaster_id: string }): string =>
  `user/${follow.user_id}/follow/${follow.broadcaster_id}`

export async function deleteFollow(tx: Transaction, args: { user_id: string; broadcaster_id: string }) {
  const gone = await tx.run(
    sql`delete from follows where user_id = ${args.user_id} and broadcaster_id = ${args.broadcaster_id}`,
  )
  if (gone === 0) return refuse('not_found', 'followed channel', args.broadcaster_id)
  tx.publish({ kind: 'follows', user_ids: [args.user_id] })
  tx.record({ subject: followSubject(args), before: args })
  return undefined
}

/** Follows of a user that one transaction deletes before the user. */
const BATCH_SIZE = 2000

/**
 * Deletes some of the follows of a user who is about to be deleted, and of the followers, if there are many. Returns how many;
 * call again until that is 0. The last ones are deleted with the user.
 */
export async function removeFollowsAround(
  tx: Transaction,
  { user_id }: { user_id: string },
): Promise<number> {
  const sides = [sql`user_id = ${user_id}`, sql`broadcaster_id = ${user_id}`]
  for (const side of sides) {
    const some = await tx.all<{ user_id: string; broadcaster_id: string }>(
      sql`select user_id, broadcaster_id from follows where ${side}${limitedTo(BATCH_SIZE)}`,
    )
    if (some.length < BATCH_SIZE) continue
    await lockCounts(tx, isOneOfSome(some))
    const given = valuesTable(some, ['user_id', 'broadcaster_id'])
    return tx.run(
      sql`delete from follows where (user_id, broadcaster_id) in (select user_id, broadcaster_id from ${given} as given)`,
    )
  }
  return 0
}

const isOneOfSome = (follows: readonly { user_id: string; broadcaster_id: string }[]): Sql => {
  const ids = new Set(follows.flatMap(each => [each.user_id, each.broadcaster_id]))
  return sql`${isOneOf(sql`user_id`, [...ids])}`
}
