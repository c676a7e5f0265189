import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { capSessions } from './caps.ts'
import { endTokens } from './end-tokens.ts'

/** A browser session of a logged-in user. */
interface NewSession {
  readonly hash: string
  readonly id: string
  readonly user_id: string
  readonly expires_at: string
  /** The browser, as described by its user agent, so that users recognize their sessions. */
  readonly browser: string
}

/**
 * Starts a session of a user whose password was checked. That takes a while: if the password has been changed meanwhile, or the
 * user suspended, the session is refused, because the change has ended all others.
 */
export async function startSession(
  tx: Transaction,
  args: { session: NewSession; password_hash: string | null; now: string },
): Promise<Refusal<'not_found'> | undefined> {
  const { session } = args
  await tx.lock(sql`select id from users where id = ${session.user_id}`, 'users')
  const user = await tx.get<{ password_hash: string | null }>(
    sql`select password_hash from users where id = ${session.user_id} and suspended_at is null`,
  )
  if (user === undefined || user.password_hash !== args.password_hash)
    return refuse('not_found', 'user', session.user_id)
  await tx.run(
    sql`insert into sessions (hash, id, user_id, created_at, seen_at, expires_at, browser)
        values (${session.hash}, ${session.id}, ${session.user_id}, ${args.now}, ${args.now}, ${session.expires_at},
          ${session.browser})`,
  )
  await capSessions(tx, session)
  return undefined
}

/** Extends a session that is in use. */
export async function keepSession(
  tx: Transaction,
  args: { hash: string; now: string; expires_at: string },
): Promise<void> {
  await tx.run(
    sql`update sessions set seen_at = ${args.now}, expires_at = ${args.expires_at} where hash = ${args.hash}`,
  )
}

export async function endSession(tx: Transaction, args: { user_id: string; id: string }): Promise<void> {
  await tx.run(sql`delete from sessions where user_id = ${args.user_id} and id = ${args.id}`)
  publishEnd(tx, args.user_id)
}

export async function endOtherSessions(
  tx: Transaction,
  args: { user_id: string; keep: string },
): Promise<void> {
  await tx.run(sql`delete from sessions where user_id = ${args.user_id} and id <> ${args.keep}`)
  publishEnd(tx, args.user_id)
}

/** The tokens of the site end with their session (D-150): every process looks them up again. */
function publishEnd(tx: Transaction, user_id: string): void {
  tx.publish({ kind: 'access', access: { user_id } })
}

interface NewPassword {
  readonly user_id: string
  readonly password_hash: string
  /** The session in which the password was changed. */
  readonly keep?: string | undefined
}

export async function changePassword(tx: Transaction, args: NewPassword) {
  const refused = await setPassword(tx, args)
  if (refused === undefined) tx.record({ subject: `user/${args.user_id}`, after: { password: 'changed' } })
  return refused
}

/** Sets a password. A link to set one ends. */
export async function setPassword(tx: Transaction, args: NewPassword) {
  const { user_id } = args
  await tx.lock(sql`select id from users where id = ${user_id}`, 'users')
  const before = await tx.get<{ password_hash: string | null }>(
    sql`select password_hash from users where id = ${user_id}`,
  )
  if (before === undefined) return refuse('not_found', 'user', user_id)
  await tx.run(
    sql`update users set password_hash = ${args.password_hash}, reset_hash = null, reset_expires_at = null
        where id = ${user_id}`,
  )
  // The first password of an account ends nothing: until then all its tokens came from the operator.
  if (before.password_hash !== null) await lockOut(tx, user_id, args.keep)
  return undefined
}

/**
 * Ends all other sessions and all tokens: a password is changed to lock out anyone who knows the old one, and a user is
 * suspended.
 */
export async function lockOut(tx: Transaction, user_id: string, keep = ''): Promise<void> {
  await tx.run(sql`delete from sessions where user_id = ${user_id} and id <> ${keep}`)
  publishEnd(tx, user_id)
  await tx.run(sql`delete from authorization_codes where user_id = ${user_id}`)
  await tx.run(sql`delete from device_codes where user_id = ${user_id}`)
  await tx.lock(sql`select hash from tokens where user_id = ${user_id} order by hash`, 'tokens')
  await endTokens(tx, sql`user_id = ${user_id}`)
}
