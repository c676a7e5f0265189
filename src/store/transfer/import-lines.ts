import { isRefusal } from '../../contract/problem.ts'
import type { TransferLine, TransferType } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { refusalsOf } from './refusals.ts'
import { type Change, type ImportLine, runsOf, type StoredLine } from './resource.ts'
import { RESOURCES } from './resources.ts'
import { findRows } from './rows.ts'

type Outcome = 'created' | 'changed' | 'unchanged' | 'staged' | { readonly refused: string }

export type Counts = Record<'created' | 'changed' | 'unchanged', number>

export interface ImportResult {
  readonly counts: Partial<Record<TransferType, Counts>>
  /** The lines that were not applied, by index. */
  readonly refused: readonly (readonly [index: number, why: string])[]
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
  const { keyOf, isCurrent, putEach, putAll } = RESOURCES[type]
  const rows = await findRows(tx, type, lines, { forUpdate: true })
  const refusals = await refusalsOf(tx, type, lines as readonly TransferLine[], rows)
  const changes: (Change<TransferType> & { readonly index: number })[] = []
  const outcomes = lines.map((line, index): Outcome => {
    const refused = refusals.get(index)
    if (refused !== undefined) return { refused }
    const key = keyOf(line)
    const row = rows.get(key)
    if (row === undefined && leavesStaged && type === 'entitlement') return 'staged'
    if (row !== undefined && isCurrent(row, line)) return 'unchanged'
    changes.push({ index, line, row })
    // A file may contain the same relation twice.
    rows.set(key, line as StoredLine)
    return row === undefined ? 'created' : 'changed'
  })
  if (changes.length > 0 && putEach === undefined) await putAll(tx, changes, now)
  for (const change of putEach === undefined ? [] : changes) {
    const result = await putEach?.(tx, change, now)
    if (isRefusal(result))
      outcomes[change.index] = {
        refused: `it was changed by another process in the meantime (${result.problem})`,
      }
  }
  return outcomes
}
