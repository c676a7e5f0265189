import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { refuseSuspended } from './refuse-suspended.ts'
import { setPassword } from './sessions.ts'

/** Stores the hash of a link with which a user can set a password. An earlier link ends. */
export async function createPasswordReset(
  tx: Transaction,
  { user_id, hash, expires_at }: { user_id: string; hash: string; expires_at: string },
): Promise<Refusal<'not_found' | 'user_suspended'> | undefined> {
  await tx.lock(sql`select id from users where id = ${user_id}`, 'users')
  const suspended = await refuseSuspended(tx, [user_id])
  if (suspended !== undefined) return suspended
  const found = await tx.run(
    sql`update users set reset_hash = ${hash}, reset_expires_at = ${expires_at} where id = ${user_id}`,
  )
  if (found === 0) return refuse('not_found', 'user', user_id)
  tx.record({ subject: `user/${user_id}`, after: { password_reset: 'created', expires_at } })
  return undefined
}

/** Sets a password with a link, once: `setPassword` ends the link, all sessions and all tokens. */
export async function usePasswordReset(
  tx: Transaction,
  { hash, password_hash, now }: { hash: string; password_hash: string; now: string },
): Promise<Refusal<'not_found'> | undefined> {
  await tx.lock(sql`select id from users where reset_hash = ${hash}`, 'users')
  const user = await tx.get<{ id: string }>(
    sql`select id from users where reset_hash = ${hash} and reset_expires_at > ${now} and suspended_at is null`,
  )
  if (user === undefined) return refuse('not_found', 'user', '')
  const refused = await setPassword(tx, { user_id: user.id, password_hash })
  if (refused === undefined) tx.record({ subject: `user/${user.id}`, after: { password: 'changed' } })
  return refused
}
