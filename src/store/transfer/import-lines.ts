import { isRefusal } from '../../contract/problem.ts'
import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Database, Transaction } from '../database.ts'
import type { Change, Claim, EarlierLines, ImportLine } from './line-type.ts'
import { LINE_TYPES } from './line-types.ts'
import { compare, type Refusals } from './refusals.ts'

type Outcome = 'created' | 'changed' | 'unchanged' | 'staged' | { readonly refused: string }

export type Counts = Record<'created' | 'changed' | 'unchanged', number>

export interface ImportResult {
  readonly counts: Partial<Record<TransferType, Counts>>
  /** The lines that were not applied, by index. */
  readonly refused: readonly (readonly [index: number, why: string])[]
}

/** Checks lines against the store and the earlier lines of the file. */
export async function checkLines(
  db: Database,
  all: readonly TransferLine[],
  earlier: EarlierLines,
  { stagesEntitlements = false } = {},
): Promise<Refusals> {
  const refused: Refusals = new Map()
  for (const { type, start, lines } of splitRuns(all)) {
    const isStaging = stagesEntitlements && type === 'entitlement'
    const { refusals } = await compare(db, LINE_TYPES[type], lines, { earlier, isStaging })
    for (const [index, line] of lines.entries()) {
      const why = refusals.get(index) ?? claim(LINE_TYPES[type].claims(line), earlier)
      if (why !== undefined) refused.set(start + index, why)
    }
  }
  return refused
}

/** Notes the claims of a line; if an earlier line has one of them, none, and the reason is returned. */
function claim(claims: readonly Claim[], earlier: EarlierLines): string | undefined {
  const [only] = claims
  if (only !== undefined && claims.length === 1) return earlier.add(...only.what) ? undefined : only.why()
  const taken = claims.find(({ what }) => earlier.has(...what))
  if (taken === undefined) for (const { what } of claims) earlier.add(...what)
  return taken?.why()
}

/**
 * Applies lines in order. They are checked again in this transaction, because other processes may have written since the
 * first check. Refused lines are skipped and reported; the others are applied, except new entitlements that are staged.
 */
export async function importLines(
  tx: Transaction,
  args: { lines: readonly ImportLine[]; now: number; leavesStaged?: boolean },
): Promise<ImportResult> {
  const counts: Partial<Record<TransferType, Counts>> = {}
  const refused: [index: number, why: string][] = []
  for (const { type, start, lines } of splitRuns(args.lines)) {
    const count = counts[type] ?? { created: 0, changed: 0, unchanged: 0 }
    counts[type] = count
    for (const [place, outcome] of (await importEach(tx, type, lines, args)).entries()) {
      if (typeof outcome === 'object') refused.push([start + place, outcome.refused])
      else if (outcome !== 'staged') count[outcome] += 1
    }
  }
  if (Object.values(counts).some(({ created, changed }) => created + changed > 0))
    tx.record({ subject: 'import', after: counts })
  return { counts, refused }
}

/** Finds the existing rows for lines of one type, and applies the lines that create or change one. */
async function importEach(
  tx: Transaction,
  type: TransferType,
  lines: readonly ImportLine[],
  { now, leavesStaged = false }: { now: number; leavesStaged?: boolean },
): Promise<Outcome[]> {
  const lineType = LINE_TYPES[type]
  const { rows, refusals } = await compare(tx, lineType, lines as readonly TransferLine[])
  const changes = new Map<string, Change & { readonly index: number }>()
  const outcomes = lines.map((given, index): Outcome => {
    const refused = refusals.get(index)
    if (refused !== undefined) return { refused }
    const key = lineType.lineKey(given)
    const row = rows.get(key)
    if (row === undefined && leavesStaged && type === 'entitlement') return 'staged'
    const line = lineType.writes === 'commands' ? lineType.asStored(given, row) : given
    // A file may contain the same relation twice: the later line counts.
    const earlier = changes.get(key)?.line
    const known = earlier === undefined ? row : { ...row, ...earlier }
    if (known !== undefined && lineType.isCurrent(known as never, line)) {
      const hasNewField = earlier !== undefined && Object.keys(line).some(field => !(field in known))
      if (!hasNewField) return 'unchanged'
    }
    changes.set(key, { index, line: earlier === undefined ? line : Object.assign({}, earlier, line), row })
    return known === undefined ? 'created' : 'changed'
  })
  const all = [...changes.values()]
  if (all.length === 0) return outcomes
  const results = (await lineType.put(tx, all, now)) ?? []
  for (const [place, result] of results.entries()) {
    const index = all[place]?.index
    if (index !== undefined && isRefusal(result))
      outcomes[index] = {
        refused: `it was changed by another process in the meantime (${result.problem})`,
      }
  }
  return outcomes
}

/** Splits lines into runs of the same type, which are processed together. */
function splitRuns<L extends { readonly type: TransferType }>(
  lines: readonly L[],
): { type: TransferType; start: number; lines: L[] }[] {
  const runs: { type: TransferType; start: number; lines: L[] }[] = []
  for (const [start, line] of lines.entries()) {
    const last = runs.at(-1)
    if (last?.type === line.type) last.lines.push(line)
    else runs.push({ type: line.type, start, lines: [line] })
  }
  return runs
}
