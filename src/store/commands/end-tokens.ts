import type { Transaction } from '../database.ts'
import { type Sql, sql } from '../sql/tag.ts'

/** Ends tokens, and lets everybody who knows them forget them. */
export async function endTokens(tx: Transaction, where: Sql): Promise<void> {
  const ended = await tx.all<{ hash: string }>(sql`delete from tokens where ${where} returning hash`)
  if (ended.length > 0) tx.publish({ kind: 'access', access: { tokens: ended.map(row => row.hash) } })
}
