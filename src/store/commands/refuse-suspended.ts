import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Lookup } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** The suspended ones of these users. */
export const suspendedUsers: Lookup<{ readonly id: string; readonly login: string }> = {
  column: 'id',
  select: sql`select id, login from users`,
  by: sql`id`,
  where: sql`suspended_at is not null`,
}

/** Refuses if one of these users is suspended. */
export async function refuseSuspended(
  tx: Transaction,
  user_ids: readonly string[],
): Promise<Refusal<'user_suspended'> | undefined> {
  if (user_ids.length === 0) return undefined
  const [suspended] = await tx.lookUp(suspendedUsers, user_ids)
  return suspended && refuse('user_suspended', suspended.login)
}
