import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { isOneOf, sql, verbatim } from '../sql/tag.ts'
import { type EarlierLines, runsOf, type StoredLine } from './resource.ts'
import { RESOURCES } from './resources.ts'
import { findRows } from './rows.ts'

/** Why lines cannot be applied, by index. */
type Refusals = Map<number, string>

type Values = Readonly<Record<string, unknown>>

/** Checks lines against the store and the earlier lines of the file. */
export async function checkLines(
  db: Database,
  all: readonly TransferLine[],
  earlier: EarlierLines,
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  for (const { type, start, lines } of runsOf(all)) {
    const { fixed, claims } = RESOURCES[type]
    const rows = fixed === undefined ? new Map() : await findRows(db, type, lines)
    const refused = await refusalsOf(db, type, lines, rows, earlier)
    for (const [index, line] of lines.entries()) {
      const claimed = claims(line)
      const why = refused.get(index) ?? claimed.find(({ what }) => earlier.has(...what))?.why
      if (why === undefined) for (const { what } of claimed) earlier.add(...what)
      else refusals.set(start + index, why)
    }
  }
  return refusals
}

/** Checks lines of one type against the store and their existing rows. */
export async function refusalsOf(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  rows: ReadonlyMap<string, StoredLine>,
  earlier?: EarlierLines,
): Promise<Refusals> {
  const { fixed, conflicts, keyOf } = RESOURCES[type]
  const refusals = await missingReferences(db, type, lines, earlier)
  const conflictOf = await conflicts?.(db, lines, earlier)
  for (const [index, line] of lines.entries()) {
    if (refusals.has(index)) continue
    const key = keyOf(line)
    const row = rows.get(key) as Values | undefined
    const isOther = row && fixed?.fields.some(field => row[field] !== (line as Values)[field])
    const why = isOther ? `the ${type} "${key}" ${fixed?.why}` : conflictOf?.(line)
    if (why !== undefined) refusals.set(index, why)
  }
  return refusals
}

/** Refuses lines that reference something neither in the store nor in an earlier line. */
async function missingReferences(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  earlier: EarlierLines | undefined,
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  for (const [field, kind] of RESOURCES[type].references) {
    const referenced = new Map<number, string>()
    for (const [index, line] of lines.entries()) {
      const id = (line as Values)[field] as string | null | undefined
      if (!id || refusals.has(index) || earlier?.has(kind, id)) continue
      if (line.type === 'entitlement' && field === 'user_id' && line.user_deleted) continue
      referenced.set(index, id)
    }
    if (referenced.size === 0) continue
    const ids = [...new Set(referenced.values())]
    const rows = await db.all<{ id: string }>(
      sql`select id from ${verbatim(RESOURCES[kind].table)} where ${isOneOf(sql`id`, ids)}`,
    )
    const known = new Set(rows.map(row => row.id))
    for (const [index, id] of referenced)
      if (!known.has(id)) refusals.set(index, `"${field}" names the ${kind} "${id}", which does not exist`)
  }
  return refusals
}
