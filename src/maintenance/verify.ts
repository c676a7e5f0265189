import { join } from 'node:path'
import { StreamKeys } from '../auth/stream-keys.ts'
import { readMasterKeys } from '../data-folder.ts'
import { KeyRing, type MasterKey } from '../kit/key-ring.ts'
import {
  auditFlawIn,
  integrityErrors,
  rowsOf,
  SCHEMA_VERSION,
  storeSummary,
  streamKeysIn,
} from '../store/embedded-file.ts'
import { STORE_FILE } from './manifest.ts'

/** What a look through a store found. */
export interface Findings {
  /** What is wrong, a sentence each. */
  readonly problems: readonly string[]
  /** What could not be looked at, and why. */
  readonly notes: readonly string[]
  readonly stream_keys: number
  readonly rows: number
}

const MAX_NAMED = 5
/** The schema that brought the audit log. */
const FIRST_WITH_AUDIT = 6

/**
 * Checks the store of a folder, live or unpacked: every page, index and reference, whether every stream key opens, and
 * whether the audit log is whole. The master keys are those given, or else those in the folder.
 */
export async function verifyFolder(
  folder: string,
  given: readonly MasterKey[] | undefined,
): Promise<Findings> {
  const store = join(folder, STORE_FILE)
  const found = (problems: readonly string[], more: Partial<Findings> = {}): Findings => {
    return { problems, notes: [], stream_keys: 0, rows: 0, ...more }
  }
  const violations = integrityErrors(store, 'full')
  if (violations.length > 0) return found(violations.map(words => `the store is damaged: ${words}`))
  let schema: number
  let rows: number
  try {
    schema = storeSummary(store).schema
    rows = Object.values(rowsOf(store)).reduce((sum, count) => sum + count, 0)
  } catch (error) {
    // A file may be whole for SQLite and still lack what every store has.
    return found([`the store is damaged: ${(error as Error).message}`])
  }
  if (schema > SCHEMA_VERSION) {
    const newer = `the store has schema ${schema} and this program knows ${SCHEMA_VERSION}: use a newer Strand`
    return found([newer], { rows })
  }
  const flaw = schema >= FIRST_WITH_AUDIT ? await auditFlawIn(store) : undefined
  const unproven = flaw === undefined ? [] : [`the audit log is broken at ${flaw}`]
  const keys = readMasterKeys({ dataFolder: folder, masterKeys: given })
  if (keys === undefined) {
    const note =
      'the stream keys were not tried, because the master keys are not here: give --passphrase-file or STRAND_MASTER_KEYS'
    return found(unproven, { notes: [note], rows })
  }
  const { problems, stream_keys } = await tryStreamKeys(store, new KeyRing(keys))
  return found([...unproven, ...problems], { stream_keys, rows })
}

async function tryStreamKeys(
  store: string,
  ring: KeyRing,
): Promise<Pick<Findings, 'problems' | 'stream_keys'>> {
  const streamKeys = new StreamKeys(ring)
  const missing = new Map<string, number>()
  const altered: string[] = []
  let tried = 0
  for await (const rows of streamKeysIn(store)) {
    for (const row of rows) {
      tried += 1
      if (!ring.ids.includes(row.key_id)) missing.set(row.key_id, (missing.get(row.key_id) ?? 0) + 1)
      else if (!streamKeys.isWhole(row)) altered.push(row.user_id)
    }
  }
  const problems = [...missing].map(
    ([id, count]) =>
      `${count} stream ${count === 1 ? 'key is' : 'keys are'} sealed with the master key ${id}, which is not in the ring`,
  )
  if (altered.length > 0) {
    const named = altered.slice(0, MAX_NAMED).join(', ')
    problems.push(
      `${altered.length} stream ${altered.length === 1 ? 'key does' : 'keys do'} not open, of users ${named}: they were altered, or a master key is another one`,
    )
  }
  return { problems, stream_keys: tried }
}
