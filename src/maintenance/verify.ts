import { join } from 'node:path'
import { EventSecrets } from '../auth/event-secrets.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import { readMasterKeys } from '../config/data-folder.ts'
import { KeyRing, type MasterKey } from '../kit/crypto/key-ring.ts'
import {
  auditFlawIn,
  countRows,
  integrityErrors,
  SCHEMA_VERSION,
  sealedSecretsIn,
  storeSummary,
  wrongFollowCounts,
} from '../store/embedded-file.ts'
import { STREAM_KEY_KINDS } from '../store/queries/sealed-secrets.ts'
import { STORE_FILE } from './manifest.ts'

/** The result of verifying a store. */
export interface Findings {
  /** One sentence each. */
  readonly problems: readonly string[]
  /** What could not be checked, and why. */
  readonly notes: readonly string[]
  readonly stream_keys: number
  readonly rows: number
}

const MAX_NAMED = 5

/**
 * Checks the store of a folder, in use or unpacked: every page, index and reference, that every stream key and
 * webhook secret can be opened, that follow counts equal the follows, and that the audit log is intact. Uses the given master keys, or those in the folder.
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
  if (violations.length > 0) return found(violations.map(violation => `the store is damaged: ${violation}`))
  let schema: number
  let rows: number
  let followProblems: string[]
  try {
    schema = storeSummary(store).schema
    rows = Object.values(countRows(store)).reduce((sum, count) => sum + count, 0)
    followProblems = checkFollowCounts(store)
  } catch (error) {
    // SQLite may consider a file intact although it lacks tables of a store.
    return found([`the store is damaged: ${(error as Error).message}`])
  }
  if (schema > SCHEMA_VERSION) {
    const newer = `the store has schema ${schema}, but this version of Strand supports up to ${SCHEMA_VERSION}: use a newer version`
    return found([newer], { rows })
  }
  const flaw = await auditFlawIn(store)
  const contentProblems = flaw === undefined ? [] : [`the audit log is broken at ${flaw}`]
  contentProblems.push(...followProblems)
  const keys = readMasterKeys({ dataFolder: folder, masterKeys: given })
  if (keys === undefined) {
    const note =
      'stream keys were not checked because the master keys are missing: give --passphrase-file or STRAND_MASTER_KEYS'
    return found(contentProblems, { notes: [note], rows })
  }
  const { problems, stream_keys } = await checkSealed(store, new KeyRing(keys))
  return found([...contentProblems, ...problems], { stream_keys, rows })
}

function checkFollowCounts(store: string): string[] {
  const users = wrongFollowCounts(store)
  if (users.length === 0) return []
  const named = users.slice(0, MAX_NAMED).join(', ')
  return [
    `the follow counts of ${users.length} ${users.length === 1 ? 'user' : 'users'} differ from the follows (users ${named})`,
  ]
}

/** Counts sealed rows that cannot be opened, and describes them. */
class SealCheck {
  readonly #ring: KeyRing
  readonly #missing = new Map<string, number>()
  readonly #altered: string[] = []
  checked = 0

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  note(row: { readonly key_id: string }, owner: string, opens: () => boolean): void {
    this.checked += 1
    if (!this.#ring.ids.includes(row.key_id))
      this.#missing.set(row.key_id, (this.#missing.get(row.key_id) ?? 0) + 1)
    else if (!opens()) this.#altered.push(owner)
  }

  problems(noun: string, owners: string): string[] {
    const problems = [...this.#missing].map(
      ([id, count]) =>
        `${count} ${noun}${count === 1 ? ' is' : 's are'} sealed with the master key ${id}, which is not in the ring`,
    )
    const { length } = this.#altered
    if (length > 0) {
      const named = this.#altered.slice(0, MAX_NAMED).join(', ')
      problems.push(
        `${length} ${noun}${length === 1 ? '' : 's'} cannot be opened (${owners} ${named}): they were altered, or a master key is wrong`,
      )
    }
    return problems
  }
}

async function checkSealed(
  store: string,
  ring: KeyRing,
): Promise<Pick<Findings, 'problems' | 'stream_keys'>> {
  const streamKeys = new StreamKeys(ring)
  const keys = new SealCheck(ring)
  for (const kind of STREAM_KEY_KINDS)
    for await (const rows of sealedSecretsIn(store, kind))
      for (const row of rows)
        keys.note(row, row.owner, () => streamKeys.isWhole({ ...row, user_id: row.owner }))
  const eventSecrets = new EventSecrets(ring)
  const secrets = new SealCheck(ring)
  for await (const rows of sealedSecretsIn(store, 'webhook_secret'))
    for (const row of rows)
      secrets.note(row, row.owner, () => eventSecrets.open(row.owner, row) !== undefined)
  return {
    problems: [
      ...keys.problems('stream key', 'users'),
      ...secrets.problems('webhook secret', 'subscriptions'),
    ],
    stream_keys: keys.checked,
  }
}
