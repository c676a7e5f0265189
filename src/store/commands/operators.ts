import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { setFact } from './cleanup.ts'

/** A named operator token to be stored, as its hash. */
interface NewOperator {
  readonly name: string
  readonly hash: string
  readonly created_at: string
}

export async function createOperator(tx: Transaction, args: NewOperator) {
  const { name, hash, created_at } = args
  const added = await tx.run(
    sql`insert into operator_tokens (name, hash, created_at) values (${name}, ${hash}, ${created_at})
        on conflict (name) do nothing`,
  )
  if (added === 0) return refuse('taken', 'name', name)
  tx.record({ subject: `operator/${name}`, after: { name, created_at } })
  return undefined
}

/** Deletes an operator and its token. Operator tokens are looked up on every request, so this takes effect at once. */
export async function deleteOperator(tx: Transaction, args: { name: string }) {
  const held = await tx.get<{ name: string; created_at: string }>(
    sql`delete from operator_tokens where name = ${args.name} returning name, created_at`,
  )
  if (held === undefined) return refuse('name_not_found', 'operator', args.name)
  tx.record({ subject: `operator/${args.name}`, before: held })
  return undefined
}

/** The fact that lists the sessions of the console that were logged out before their end. */
export const ENDED_SESSIONS = 'ended-operator-sessions'
/** Only operators add to the list; the oldest drop out far later than anyone logs out so often. */
const MAX_ENDED_SESSIONS = 1000

/** The id of a session, and when it would have ended, in milliseconds since 1970. */
export type EndedSession = readonly [id: string, ends: number]

/** Logs out a session of the console. Sessions that have expired are forgotten. */
export async function endOperatorSession(
  tx: Transaction,
  args: { id: string; ends: number; now: number },
): Promise<void> {
  // Both engines make concurrent log-outs wait for this row.
  await tx.run(
    sql`insert into facts (name, value) values (${ENDED_SESSIONS}, '[]') on conflict (name) do update set value = facts.value`,
  )
  const fact = await tx.get<{ value: string }>(sql`select value from facts where name = ${ENDED_SESSIONS}`)
  const ended = (JSON.parse(fact?.value ?? '[]') as EndedSession[]).filter(([, ends]) => ends > args.now)
  const value = JSON.stringify([...ended, [args.id, args.ends]].slice(-MAX_ENDED_SESSIONS))
  await setFact(tx, { name: ENDED_SESSIONS, value })
}
