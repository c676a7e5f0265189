import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/user.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

export const userSubject = ({ id }: { id: string }): string => `user/${id}`

/** The audit log outlives the user, so it never contains the address. */
export const loggable = ({ email: _, ...user }: User) => user

/** Records that the data of a user is exported. Returns the user. */
export async function recordExport(
  tx: Transaction,
  { user_id }: { user_id: string },
): Promise<Pick<User, 'id' | 'login'> | Refusal<'not_found'>> {
  const user = await tx.get<Pick<User, 'id' | 'login'>>(
    sql`select id, login from users where id = ${user_id}`,
  )
  if (user === undefined) return refuse('not_found', 'user', user_id)
  tx.record({ subject: userSubject(user), after: { data: 'exported' } })
  return user
}
