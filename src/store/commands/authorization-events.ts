/** The events about users who authorize applications, and end that (D-223). */
import { namesAs } from '../../contract/resources/id.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { findNames } from './channel-events.ts'
import { emit } from './emit.ts'

/** The consent of a user to a client. */
interface Consent {
  readonly user_id: string
  readonly client_id: string
}

export async function emitAuthorization(
  tx: Transaction,
  type: 'user.authorization.grant' | 'user.authorization.revoke',
  { user_id, client_id }: Consent,
): Promise<void> {
  await emit(tx, type, [client_id], async () => {
    const names = await findNames(tx, [user_id])
    return [...names.values()].map(user => ({
      subject: client_id,
      event: { client_id, ...namesAs('user', user) },
    }))
  })
}

/** All applications of a user who is about to be deleted. */
export async function emitLastRevocations(tx: Transaction, user_id: string): Promise<void> {
  const rows = await tx.all<Consent>(
    sql`select user_id, client_id from connections where user_id = ${user_id} order by client_id`,
  )
  for (const row of rows) await emitAuthorization(tx, 'user.authorization.revoke', row)
}
