import { TRANSFER_TYPES, type TransferLine, type TransferType } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { conflictsWith, missingReferences, NO_EARLIER_LINES } from '../queries/transfer.ts'
import { importEntitlements } from './import-entitlements.ts'
import { importEditors, importFollows, importMembers } from './import-relations.ts'
import { importMarkers, importStreams, importVideos } from './import-streams.ts'
import {
  importBenefits,
  importChannels,
  importClients,
  importGames,
  importOrganizations,
  importUsers,
  type PreparedUser,
} from './import-world.ts'

/** A line ready for the store: of a user, with secrets in the form in which they are kept. */
export type ImportLine = Exclude<TransferLine, TransferLine<'user'>> | PreparedUser

/** What became of a line. */
export type Fate = 'created' | 'changed' | 'unchanged' | { readonly refused: string }

export type Counts = Record<'created' | 'changed' | 'unchanged', number>

export interface ImportResult {
  readonly counts: Partial<Record<TransferType, Counts>>
  /** The lines that could not be, by their place among those given. */
  readonly refused: readonly { readonly index: number; readonly why: string }[]
}

type Importer<T extends TransferType> = (
  tx: Transaction,
  lines: readonly Extract<ImportLine, { type: T }>[],
  now: number,
) => Promise<readonly Fate[]>

const IMPORTERS: { readonly [T in TransferType]: Importer<T> } = {
  organization: importOrganizations,
  user: importUsers,
  member: importMembers,
  game: importGames,
  benefit: importBenefits,
  client: importClients,
  channel: importChannels,
  editor: importEditors,
  follow: importFollows,
  video: importVideos,
  stream: importStreams,
  marker: importMarkers,
  entitlement: importEntitlements,
}

/**
 * Makes or changes what the lines tell, in their order. They were checked before, and are checked again here, in the
 * transaction: others may have written meanwhile. A line that cannot be is left out and told; the others happen.
 */
export async function importLines(
  tx: Transaction,
  args: { lines: readonly ImportLine[]; now: number },
): Promise<ImportResult> {
  const counts: Partial<Record<TransferType, Counts>> = {}
  const refused: { index: number; why: string }[] = []
  for (const { type, start, lines } of runsOf(args.lines)) {
    const count = counts[type] ?? { created: 0, changed: 0, unchanged: 0 }
    counts[type] = count
    for (const [place, fate] of (await importRun(tx, type, lines, args.now)).entries()) {
      if (typeof fate === 'string') count[fate] += 1
      else refused.push({ index: start + place, why: fate.refused })
    }
  }
  if (Object.values(counts).some(({ created, changed }) => created + changed > 0))
    tx.record({ subject: 'import', after: counts })
  return { counts, refused }
}

async function importRun(
  tx: Transaction,
  type: TransferType,
  lines: readonly ImportLine[],
  now: number,
): Promise<Fate[]> {
  const refusals = await missingReferences(tx, type, lines as TransferLine[], NO_EARLIER_LINES)
  // Whether a login is free is seen when its turn comes: a line before it may have freed it.
  if (type !== 'user') {
    const conflicts = await conflictsWith(tx, type, lines as TransferLine[], NO_EARLIER_LINES)
    for (const [index, why] of conflicts) if (!refusals.has(index)) refusals.set(index, why)
  }
  const good = refusals.size === 0 ? lines : lines.filter((_, index) => !refusals.has(index))
  const importGood = IMPORTERS[type] as unknown as Importer<TransferType>
  const fates = good.length === 0 ? [] : await importGood(tx, good, now)
  let next = 0
  return lines.map((_, index): Fate => {
    const refused = refusals.get(index)
    if (refused !== undefined) return { refused }
    return fates[next++] ?? 'unchanged'
  })
}

/** Lines of the same type that stand together are handled together. */
export function runsOf<L extends { readonly type: TransferType }>(
  lines: readonly L[],
): { type: TransferType; start: number; lines: L[] }[] {
  const runs: { type: TransferType; start: number; lines: L[] }[] = []
  for (const [index, line] of lines.entries()) {
    const last = runs.at(-1)
    if (last !== undefined && last.type === line.type) last.lines.push(line)
    else runs.push({ type: line.type, start: index, lines: [line] })
  }
  return runs
}

/** The sums of two results, by type in the order of an export. */
export function addCounts(
  a: ImportResult['counts'],
  b: ImportResult['counts'],
): Partial<Record<TransferType, Counts>> {
  const sums: Partial<Record<TransferType, Counts>> = {}
  for (const type of TRANSFER_TYPES) {
    const [one, two] = [a[type], b[type]]
    if (one === undefined && two === undefined) continue
    sums[type] = {
      created: (one?.created ?? 0) + (two?.created ?? 0),
      changed: (one?.changed ?? 0) + (two?.changed ?? 0),
      unchanged: (one?.unchanged ?? 0) + (two?.unchanged ?? 0),
    }
  }
  return sums
}
