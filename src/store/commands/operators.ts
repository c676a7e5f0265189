import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** A named token of the operator's side on its way into the store, as its hash. */
export interface NewOperator {
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

/** Takes a name and its token away. Whoever holds the token is asked for in the store each time, so it ends at once. */
export async function deleteOperator(tx: Transaction, args: { name: string }) {
  const held = await tx.get<{ name: string; created_at: string }>(
    sql`delete from operator_tokens where name = ${args.name} returning name, created_at`,
  )
  if (held === undefined) return refuse('name_not_found', 'operator', args.name)
  tx.record({ subject: `operator/${args.name}`, before: held })
  return undefined
}
