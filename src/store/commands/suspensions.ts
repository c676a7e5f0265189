/**
 * Suspended users (D-270). A user is suspended by a column: queries for everyone leave out users that have it, so the change is
 * seen by all nodes at once. What is in memory follows the feed: the stream ends, tokens are dropped, and the broadcast and its
 * viewers' minutes are removed by the change `suspended`.
 */
import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/user.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { userColumns, userQueries } from '../queries/users.ts'
import { sql } from '../sql/tag.ts'
import { disconnectPublisher } from './disconnect-publisher.ts'
import { lockOut } from './sessions.ts'
import { endRunningStream } from './streams.ts'
import { loggable, userSubject } from './user-records.ts'

/** Suspends a user. If that was done before, only the reason changes, if one is given. */
export async function suspendUser(
  tx: Transaction,
  { id, reason, now }: { id: string; reason?: string | undefined; now: number },
): Promise<User | Refusal<'not_found'>> {
  const before = await lockUser(tx, id)
  if (before === undefined) return refuse('not_found', 'user', id)
  const user: User = {
    ...before,
    suspended_at: before.suspended_at ?? isoMillis(now),
    suspension_reason: reason ?? before.suspension_reason,
  }
  await userColumns.update(tx, user)
  if (before.suspended_at === null) await endPresence(tx, { user_id: id, now })
  tx.record({ subject: userSubject(user), before: loggable(before), after: loggable(user) })
  return user
}

/** Ends a suspension. What has ended with its beginning stays so: stream, sessions and tokens. */
export async function unsuspendUser(
  tx: Transaction,
  { id }: { id: string },
): Promise<User | Refusal<'not_found' | 'not_suspended'>> {
  const before = await lockUser(tx, id)
  if (before === undefined) return refuse('not_found', 'user', id)
  if (before.suspended_at === null) return refuse('not_suspended', before.login)
  const user: User = { ...before, suspended_at: null, suspension_reason: '' }
  await userColumns.update(tx, user)
  tx.record({ subject: userSubject(user), before: loggable(before), after: loggable(user) })
  return user
}

/** Locks the channel first, as every command that starts or ends a stream does. */
async function lockUser(tx: Transaction, id: string): Promise<User | undefined> {
  await tx.lock(sql`select user_id from channels where user_id = ${id}`, 'channels')
  await tx.lock(sql`select id from users where id = ${id}`, 'users')
  return userQueries(tx).find(id)
}

/** Ends the stream, all sessions and all tokens of a user who has just been suspended, and stops personal applications. */
export async function endPresence(
  tx: Transaction,
  { user_id, now }: { user_id: string; now: number },
): Promise<void> {
  await tx.lock(sql`select user_id from channels where user_id = ${user_id}`, 'channels')
  await endRunningStream(tx, { user_id, now })
  await disconnectPublisher(tx, { user_id, now })
  await lockOut(tx, user_id)
  await stopClients(tx, user_id)
  tx.publish({ kind: 'suspended', user_id })
}

/** Queries leave out the clients and their tokens until the suspension ends (D-278); caches have to read them again. */
async function stopClients(tx: Transaction, user_id: string): Promise<void> {
  const clients = await tx.all<{ id: string }>(
    sql`select id from clients where owner_user_id = ${user_id} and organization_id is null`,
  )
  for (const { id } of clients) tx.publish({ kind: 'access', access: { client_id: id } })
}
