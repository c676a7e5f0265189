import type { Transaction } from '../database.ts'
import { changedEntitlements, changedTogether } from '../queries/audit-entitlements.ts'
import { limitedTo, readAlongIndexes, sql } from '../sql/tag.ts'

/** Maximum rows deleted per call, as in `sweep`, and about as many entitlements that they changed. */
const BATCH_SIZE = 1000

/**
 * Deletes audit rows older than `before`: always the oldest of a chain, whose head then records where the rest begins, so
 * that the remaining rows can still be verified. Returns how many; call again until that is 0.
 */
export async function pruneAudit(tx: Transaction, args: { before: string }): Promise<number> {
  const old = await tx.get<{ chain: string }>(
    sql`select h.chain from audit_heads h join audit a on a.chain = h.chain and a.seq = h.begins_after_seq + 1
        where a.at < ${args.before} limit 1`,
  )
  if (old === undefined) return 0
  const { chain } = old
  await tx.lock(sql`select chain from audit_heads where chain = ${chain}`, 'audit_heads')
  const oldest = await tx.all<{
    seq: number | string
    at: string
    hash: string
    subject: string
    after: string
  }>(
    sql`select seq, at, hash, subject, after from audit where chain = ${chain} order by seq${limitedTo(BATCH_SIZE)}`,
  )
  const ids = new Set<string>()
  let changes = 0
  let last: (typeof oldest)[number] | undefined
  for (const row of oldest) {
    if (row.at >= args.before || changes >= BATCH_SIZE) break
    const changed = changedTogether(row)
    changes += changed.length
    for (const id of changed) ids.add(id)
    last = row
  }
  if (last === undefined) return 0
  if (ids.size > 0) {
    await tx.get(readAlongIndexes)
    await tx.run(
      sql`with ${changedEntitlements([...ids])}
          delete from audit_entitlements where (timestamp, id) in (select timestamp, id from changed)
            and at < ${Date.parse(args.before)} and seq <= ${Number(last.seq)}
            and chain = (select number from audit_heads where chain = ${chain})`,
    )
  }
  await tx.run(
    sql`update audit_heads set begins_after_seq = ${Number(last.seq)}, begins_after_hash = ${last.hash} where chain = ${chain}`,
  )
  return tx.run(sql`delete from audit where chain = ${chain} and seq <= ${Number(last.seq)}`)
}
