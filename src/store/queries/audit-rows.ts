/** Rows of the audit log as the store has them, and as entries of the API. */
import type { Page } from '../../contract/page.ts'
import type { AuditEntry } from '../../contract/resources/audit.ts'
import type { AuditRow } from '../../domain/audit.ts'
import type { Database } from '../database.ts'
import { joined, sql } from '../sql/tag.ts'

export type StoredRow = Omit<AuditRow, 'seq'> & { readonly seq: number | string }

export const auditColumns = sql`select chain, seq, at, actor, operation, subject, place, before, after, previous, hash from audit`

/** Rows never change, so pagination returns every row that existed at its start exactly once. */
export const auditSortKey = (row: AuditEntry) => [row.at, row.chain, row.seq]
export const storedKey = (row: StoredRow) => [row.at, row.chain, Number(row.seq)]

export const asEntries = (page: Page<StoredRow>): Page<AuditEntry> => ({
  ...page,
  rows: page.rows.map(toAuditEntry),
})

export function toAuditEntry({ previous: _, place: __, seq, before, after, ...row }: StoredRow): AuditEntry {
  return { ...row, seq: Number(seq), before: JSON.parse(before), after: JSON.parse(after) }
}

/** Rows read by one statement; each number of them is a separate statement. */
const MAX_READ = 16

/** The rows at these points, each found by its key: PostgreSQL would read the whole log for a join. */
export async function rowsAt(
  db: Database,
  points: readonly { readonly chain: string; readonly seq: number | string }[],
): Promise<StoredRow[]> {
  const reads: Promise<StoredRow[]>[] = []
  for (let at = 0; at < points.length; at += MAX_READ) {
    const each = points
      .slice(at, at + MAX_READ)
      .map(({ chain, seq }) => sql`${auditColumns} where chain = ${chain} and seq = ${Number(seq)}`)
    reads.push(db.all<StoredRow>(joined(each, ' union all ')))
  }
  return (await Promise.all(reads)).flat()
}
