import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** A named operator token to be stored, as its hash. */
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

/** Deletes an operator and its token. Operator tokens are looked up on every request, so this takes effect at once. */
export async function deleteOperator(tx: Transaction, args: { name: string }) {
  const held = await tx.get<{ name: string; created_at: string }>(
    sql`delete from operator_tokens where name = ${args.name} returning name, created_at`,
  )
  if (held === undefined) return refuse('name_not_found', 'operator', args.name)
  tx.record({ subject: `operator/${args.name}`, before: held })
  return undefined
}
