import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { isOneOf, sql, verbatim } from '../sql/tag.ts'
import type { EarlierLines, LineType, StoredLine } from './line-type.ts'
import { LINE_TYPES } from './line-types.ts'

/** Why lines cannot be applied, by index. */
export type Refusals = Map<number, string>

type Values = Readonly<Record<string, unknown>>

/**
 * Compares lines of one type with the store: their rows by key, and why lines cannot be applied. The check has the earlier
 * lines of the file, and reads only rows that matter to it; staging finds those of entitlements.
 */
export async function compare(
  db: Database,
  lineType: LineType,
  lines: readonly TransferLine[],
  { earlier, isStaging = false }: { earlier?: EarlierLines; isStaging?: boolean } = {},
): Promise<{ rows: ReadonlyMap<string, StoredLine>; refusals: Refusals }> {
  const { type, lineKey, writes } = lineType
  const isApplied = earlier === undefined
  const checks = isStaging ? [] : lineType.checks
  const prepared = []
  for (const check of checks) prepared.push(await check(db, lines, earlier))
  // Commands lock their rows.
  const forUpdate = isApplied && writes === 'rows'
  const needsRows = isApplied || checks.length > 0
  const rows = needsRows ? await lineType.find(db, lines, { forUpdate }) : new Map<string, StoredLine>()
  const refusals = await missingReferences(db, type, lines, earlier)
  if (prepared.length === 0) return { rows, refusals }
  for (const [index, line] of lines.entries()) {
    if (refusals.has(index)) continue
    const key = lineKey(line)
    const row = rows.get(key)
    for (const refuseLine of prepared) {
      const why = refuseLine(line, row, key)
      if (why === undefined) continue
      refusals.set(index, why)
      break
    }
  }
  return { rows, refusals }
}

/** Refuses lines that reference something neither in the store nor in an earlier line. */
async function missingReferences(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  earlier: EarlierLines | undefined,
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  for (const [field, kind] of LINE_TYPES[type].references) {
    const lineId = (line: TransferLine): string | undefined => {
      if (line.type === 'entitlement' && field === 'user_id' && line.user_deleted) return undefined
      return ((line as Values)[field] as string | null | undefined) || undefined
    }
    const missing = await missingAmong(db, kind, new Set(lines.map(lineId)), earlier)
    if (missing.size === 0) continue
    for (const [index, line] of lines.entries()) {
      const id = lineId(line)
      if (id !== undefined && missing.has(id) && !refusals.has(index))
        refusals.set(index, `"${field}" names the ${kind} "${id}", which does not exist`)
    }
  }
  return refusals
}

/** Many lines name the same few: each is looked up once, and noted so that later lines do not look it up again. */
async function missingAmong(
  db: Database,
  kind: TransferType,
  named: Set<string | undefined>,
  earlier: EarlierLines | undefined,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  const inStore = `${kind} in the store`
  for (const id of named)
    if (id !== undefined && !earlier?.has(inStore, id) && !earlier?.has(kind, id)) missing.add(id)
  if (missing.size === 0) return missing
  const rows = await db.all<{ id: string }>(
    sql`select id from ${verbatim(LINE_TYPES[kind].table)} where ${isOneOf(sql`id`, [...missing])}`,
  )
  for (const { id } of rows) {
    missing.delete(id)
    earlier?.add(inStore, id)
  }
  return missing
}
