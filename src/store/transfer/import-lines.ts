import { isRefusal } from '../../contract/problem.ts'
import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Database, Transaction } from '../database.ts'
import { compare, type Refusals } from './refusals.ts'
import type { Change, Claim, EarlierLines, ImportLine } from './resource.ts'
import { RESOURCES } from './resources.ts'

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
  for (const { type, start, lines } of runsOf(all)) {
    const isStaging = stagesEntitlements && type === 'entitlement'
    const { refusals } = await compare(db, RESOURCES[type], lines, { earlier, isStaging })
    for (const [index, line] of lines.entries()) {
      const why = refusals.get(index) ?? claim(RESOURCES[type].claims(line), earlier)
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
  for (const { type, start, lines } of runsOf(args.lines)) {
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
  const { keyOf, asStored, isCurrent, putEach, createAll, putAll } = RESOURCES[type]
  const { rows, refusals } = await compare(tx, RESOURCES[type], lines as readonly TransferLine[])
  const changes = new Map<string, Change & { readonly index: number }>()
  const outcomes = lines.map((given, index): Outcome => {
    const refused = refusals.get(index)
    if (refused !== undefined) return { refused }
    const key = keyOf(given)
    const row = rows.get(key)
    if (row === undefined && leavesStaged && type === 'entitlement') return 'staged'
    const line = asStored?.(given, row) ?? given
    // A file may contain the same relation twice: the later line counts.
    const earlier = changes.get(key)?.line
    const known = earlier === undefined ? row : { ...row, ...earlier }
    if (known !== undefined && isCurrent(known as never, line)) {
      const hasNewField = earlier !== undefined && Object.keys(line).some(field => !(field in known))
      if (!hasNewField) return 'unchanged'
    }
    changes.set(key, { index, line: earlier === undefined ? line : Object.assign({}, earlier, line), row })
    return known === undefined ? 'created' : 'changed'
  })
  if (putEach === undefined) {
    if (changes.size > 0) await putAll(tx, [...changes.values()], now)
    return outcomes
  }
  const created: ImportLine[] = []
  for (const change of changes.values()) {
    if (createAll !== undefined && change.row === undefined) {
      created.push(change.line)
      continue
    }
    const result = await putEach(tx, change, now)
    if (isRefusal(result))
      outcomes[change.index] = {
        refused: `it was changed by another process in the meantime (${result.problem})`,
      }
  }
  // After the changes: a new user may have a login that another user gave up.
  if (created.length > 0) await createAll?.(tx, created, now)
  return outcomes
}

/** Splits lines into runs of the same type, which are processed together. */
function runsOf<L extends { readonly type: TransferType }>(
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
