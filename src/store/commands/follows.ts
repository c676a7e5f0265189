import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql, tableOf } from '../sql/tag.ts'
import { refuseUnknown } from './references.ts'

export interface Follow {
  readonly [column: string]: string
  readonly user_id: string
  readonly broadcaster_id: string
}

/** Maximum pairs that one audit entry names; the total is always recorded. */
const PAIRS_NAMED = 100

/** Adds follows, all or none; existing ones are left unchanged. */
export async function putFollows(tx: Transaction, args: { follows: readonly Follow[] }) {
  const user = args.follows.flatMap(follow => [follow.user_id, follow.broadcaster_id])
  const unknown = await refuseUnknown(tx, { user })
  if (unknown !== undefined) return unknown
  const added = await tx.run(
    sql`insert into follows (user_id, broadcaster_id)
        select distinct pair.user_id, pair.broadcaster_id
        from ${tableOf(args.follows, ['user_id', 'broadcaster_id'])} as pair where 1 = 1
        on conflict (user_id, broadcaster_id) do nothing`,
  )
  tx.publish({ kind: 'follows', user_ids: [...new Set(args.follows.map(follow => follow.user_id))] })
  if (added > 0) recordFollows(tx, args.follows, added)
  return undefined
}

function recordFollows(tx: Transaction, follows: readonly Follow[], added: number): void {
  const [only] = follows
  if (only !== undefined && follows.length === 1) tx.record({ subject: followSubject(only), after: only })
  else tx.record({ subject: 'follows', after: { added, follows: follows.slice(0, PAIRS_NAMED) } })
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
