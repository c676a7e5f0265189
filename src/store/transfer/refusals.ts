import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { isOneOf, sql, verbatim } from '../sql/tag.ts'
import { type Claim, type EarlierLines, runsOf, type StoredLine } from './resource.ts'
import { RESOURCES } from './resources.ts'
import { findRows } from './rows.ts'

/** Why lines cannot be applied, by index. */
type Refusals = Map<number, string>

type Values = Readonly<Record<string, unknown>>

/** Checks lines against the store and the earlier lines of the file. Staging finds the rows of entitlements. */
export async function checkLines(
  db: Database,
  all: readonly TransferLine[],
  earlier: EarlierLines,
  { isStaging = false } = {},
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  for (const { type, start, lines } of runsOf(all)) {
    const { fixed, claims } = RESOURCES[type]
    const hasNoRows = fixed === undefined || (isStaging && type === 'entitlement')
    const rows = hasNoRows ? new Map() : await findRows(db, type, lines)
    const refused = await refusalsOf(db, type, lines, rows, earlier)
    for (const [index, line] of lines.entries()) {
      const why = refused.get(index) ?? claim(claims(line), earlier)
      if (why !== undefined) refusals.set(start + index, why)
    }
  }
  return refusals
}

/** Notes the claims of a line; if an earlier line has one of them, none, and the reason is returned. */
function claim(claims: readonly Claim[], earlier: EarlierLines): string | undefined {
  const [only] = claims
  if (only !== undefined && claims.length === 1) return earlier.add(...only.what) ? undefined : only.why()
  const taken = claims.find(({ what }) => earlier.has(...what))
  if (taken === undefined) for (const { what } of claims) earlier.add(...what)
  return taken?.why()
}

/** Checks lines of one type against the store and their existing rows. */
export async function refusalsOf(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  rows: ReadonlyMap<string, StoredLine>,
  earlier?: EarlierLines,
): Promise<Refusals> {
  const { conflicts, keyOf } = RESOURCES[type]
  const refusals = await missingReferences(db, type, lines, earlier)
  const conflictOf = await conflicts?.(db, lines, earlier)
  if (rows.size === 0 && conflictOf === undefined) return refusals
  for (const [index, line] of lines.entries()) {
    if (refusals.has(index)) continue
    const why = otherContent(type, line, rows.get(keyOf(line))) ?? conflictOf?.(line)
    if (why !== undefined) refusals.set(index, why)
  }
  return refusals
}

/** Refuses a line whose row has other values in fields that never change. */
export function otherContent(type: TransferType, line: object, row: object | undefined): string | undefined {
  const { fixed, keyOf } = RESOURCES[type]
  if (row === undefined || fixed === undefined) return undefined
  const isOther = fixed.fields.some(field => (row as Values)[field] !== (line as Values)[field])
  return isOther ? `the ${type} "${keyOf(line)}" ${fixed.why}` : undefined
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
    const idOf = (line: TransferLine): string | undefined => {
      if (line.type === 'entitlement' && field === 'user_id' && line.user_deleted) return undefined
      return ((line as Values)[field] as string | null | undefined) || undefined
    }
    const missing = await missingAmong(db, kind, new Set(lines.map(idOf)), earlier)
    if (missing.size === 0) continue
    for (const [index, line] of lines.entries()) {
      const id = idOf(line)
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
    sql`select id from ${verbatim(RESOURCES[kind].table)} where ${isOneOf(sql`id`, [...missing])}`,
  )
  for (const { id } of rows) {
    missing.delete(id)
    earlier?.add(inStore, id)
  }
  return missing
}
