import type { Transaction } from '../database.ts'
import { type Sql, sql } from '../sql/tag.ts'

/** Deletes tokens, and publishes that so every process drops them from its cache. */
export async function endTokens(tx: Transaction, where: Sql): Promise<void> {
  const ended = await tx.all<{ hash: string }>(sql`delete from tokens where ${where} returning hash`)
  if (ended.length > 0) tx.publish({ kind: 'access', access: { tokens: ended.map(row => row.hash) } })
}
