/**
 * The audit chain: a record of changes that cannot be altered unnoticed.
 *
 * Operators and clients change what others rely on, and later it must be possible to prove who changed what. But a person
 * with access to the database can also edit the log. So each row contains a hash of its contents and of the row before it:
 *
 *     row 1                      row 2                      row 3
 *     contents, previous = ''    contents, previous = h1    contents, previous = h2
 *     h1 = hash(contents, '')    h2 = hash(contents, h1)    h3 = hash(contents, h2)   <-- head: (3, h3)
 *
 * A row that was altered, moved or removed no longer fits the rows around it. Rewriting all later rows as well leaves a
 * consistent chain, but with other hashes: this is found if a head was noted elsewhere before
 * (`store/queries/audit-verification.ts`).
 *
 * A change moves in three steps. A command reports recordings: subject, previous state, new state. Those that change
 * nothing are left out. At the end of the transaction, `chained` turns the others into rows behind the head of the chain.
 * The head is locked until the commit, so there are several chains: one for operators, one for users, one for each
 * organization, and on PostgreSQL parallel ones (`operator/1`, ...) for writers that find a head locked.
 *
 * | Check of a row (`findFlaw`) | Finds |
 * |---|---|
 * | its number follows the previous one | removed rows |
 * | its `previous` is the hash of the row before it | moved and replaced rows |
 * | its hash matches its contents | altered rows |
 *
 * What must hold:
 * - A change and its rows are in the same transaction: neither exists without the other.
 * - The hash covers every column of a row. Equal states give equal text, whatever the order of their keys.
 * - No secret is written: it appears as `"changed"`.
 */

import { sha256Hex } from '../kit/crypto/digest.ts'
import { isoMillis } from '../kit/time/clock.ts'

/** Who makes a change, by which operation, and when. */
export interface Author {
  /**
   * `operator`, `operator/<name>`, `user/<user id>`, `client/<client id>`, `client/<client id>/user/<user id>`, or `strand`
   * for the command line.
   */
  readonly actor: string
  readonly operation: string
  /** Entries are numbered within a chain, so a writer waits for other writers of the same chain only. */
  readonly chain: string
  readonly at: string
}

/** The chain of changes by operators. Changes by clients to an organization's entitlements use the organization's id. */
export const OPERATOR_CHAIN = 'operator'

/** The chain of changes by users to what belongs to them. */
const USER_CHAIN = 'user'

/** A user who changes what belongs to them (D-69). */
export function userAuthor(user_id: string, operation: string, now: number): Author {
  return { actor: `user/${user_id}`, operation, chain: USER_CHAIN, at: isoMillis(now) }
}

/** The time of the grant in milliseconds and the id, as text or as the bytes that it spells. */
export interface EntitlementKey {
  readonly timestamp: number
  readonly id: string | Uint8Array
}

/** A change as a command reports it: subject, previous and new state. Secrets are written as `"changed"`. */
export interface Recording {
  readonly subject: string
  /**
   * A sort prefix for subjects of which there are very many: rows of subjects that were created together are adjacent on
   * disk, so that changing a hundred of them writes few pages. It never changes for a subject.
   */
  readonly place?: string
  /** The time of the change, if it has one that only moves forward (default: the author's). */
  readonly at?: string
  readonly before?: unknown
  readonly after?: unknown
  /** The entitlements that were changed together, so that the history of each finds this row. */
  readonly entitlements?: readonly EntitlementKey[]
}

/** One row of the audit log; `before` and `after` are stored as JSON text. */
export interface AuditRow extends Author {
  readonly seq: number
  readonly subject: string
  readonly place: string
  readonly before: string
  readonly after: string
  /** The hash of the previous row in the chain; empty for the first. */
  readonly previous: string
  readonly hash: string
}

/** A position in a chain: the number and the hash of a row. */
export interface ChainPoint {
  readonly seq: number
  readonly hash: string
}

/** The rows that follow a point of the author's chain, one for each recording. */
export function chained(
  author: Author,
  recordings: readonly Recording[],
  previousPoint: ChainPoint,
): AuditRow[] {
  const rows: AuditRow[] = []
  let { seq, hash: previous } = previousPoint
  for (const recording of recordings) {
    const { subject, place = '', at = author.at } = recording
    const before = canonicalJson(recording.before)
    const after = canonicalJson(recording.after)
    seq += 1
    const row = { ...author, at, seq, subject, place, before, after, previous }
    const hash = hashOfRow(row)
    rows.push({ ...row, hash })
    previous = hash
  }
  return rows
}

/** Whether the state differs. A PUT that changes nothing is not recorded. */
export function isChange({ before, after }: Recording): boolean {
  return canonicalJson(before) !== canonicalJson(after)
}

/** What is wrong with the row that should follow a point; undefined if it is valid. */
export function findFlaw(row: AuditRow, previousPoint: ChainPoint): string | undefined {
  if (row.seq !== previousPoint.seq + 1) return 'it is missing'
  if (row.previous !== previousPoint.hash) return 'it does not continue the previous row'
  return row.hash === hashOfRow(row) ? undefined : 'its hash does not match its contents'
}

function hashOfRow(row: Omit<AuditRow, 'hash'>): string {
  const { chain, seq, at, actor, operation, subject, place, before, after, previous } = row
  return sha256Hex(
    JSON.stringify([previous, chain, seq, at, actor, operation, subject, place, before, after]),
  )
}

/** JSON with sorted keys: equal content gives equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedKeys(value) ?? null)
}

/** A JSON value with the keys of all its objects sorted. Lists of plain values, such as ids, are not copied. */
function withSortedKeys(value: unknown): unknown {
  if (!isStructured(value)) return value
  if (Array.isArray(value)) return value.some(isStructured) ? value.map(withSortedKeys) : value
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, part]) => [name, withSortedKeys(part)]))
}

const isStructured = (value: unknown): value is object => typeof value === 'object' && value !== null
