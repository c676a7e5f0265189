import { sha256Hex } from '../kit/digest.ts'

/** Who changes something, by which operation, and when: what a change is recorded under. */
export interface Author {
  /** `operator`, `operator/<name>`, `client/<client id>`, `client/<client id>/user/<user id>`, or `strand` for the command. */
  readonly actor: string
  readonly operation: string
  /** Entries are numbered within a chain: whoever writes one waits for those who write in the same chain, and for nobody else. */
  readonly chain: string
  readonly at: string
}

/** The chain of what operators do. What clients do to an organization's entitlements has the id of the organization. */
export const OPERATOR_CHAIN = 'operator'

/** What a command says of a change: of what, how it was and how it is now. Nothing secret: `"changed"` is said of it. */
export interface Recording {
  readonly subject: string
  /**
   * Where the subject stands among its kind, if there are very many: with it rows of things that came into being together
   * are neighbours on the disk, and those who change a hundred of them write few pages. It never changes for a subject.
   */
  readonly place?: string
  /** When it happened, where the change itself has a time that only moves forward; else it is the author's. */
  readonly at?: string
  readonly before?: unknown
  readonly after?: unknown
}

/** One row of the audit log; `before` and `after` are JSON as it is kept. */
export interface AuditRow extends Author {
  readonly seq: number
  readonly subject: string
  readonly place: string
  readonly before: string
  readonly after: string
  /** The hash of the row in front of it in its chain; empty in front of the first. */
  readonly previous: string
  readonly hash: string
}

/** Where a chain ends, or begins: the number and the hash of a row. */
export interface ChainPoint {
  readonly seq: number
  readonly hash: string
}

/**
 * The rows that follow a point of the author's chain, one for each recording that tells of a difference. Each hash covers the
 * hash in front of it and everything that the row says, so that a row cannot be altered, moved or taken out unnoticed.
 */
export function chained(author: Author, recordings: readonly Recording[], behind: ChainPoint): AuditRow[] {
  const rows: AuditRow[] = []
  let { seq, hash: previous } = behind
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

/** Whether something is different now. A PUT of what is there already leaves no row. */
export function isChange({ before, after }: Recording): boolean {
  return canonicalJson(before) !== canonicalJson(after)
}

/** What is wrong with a row that should be the next one behind a point; undefined if nothing is. */
export function flawOf(row: AuditRow, behind: ChainPoint): string | undefined {
  if (row.seq !== behind.seq + 1) return 'it is missing'
  if (row.previous !== behind.hash) return 'it does not continue the row in front of it'
  return row.hash === hashOfRow(row) ? undefined : 'its hash is not that of its contents'
}

function hashOfRow(row: Omit<AuditRow, 'hash'>): string {
  const { chain, seq, at, actor, operation, subject, place, before, after, previous } = row
  return sha256Hex(
    JSON.stringify([previous, chain, seq, at, actor, operation, subject, place, before, after]),
  )
}

/** JSON with the names of every object in order: the same content is the same text. */
function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  return JSON.stringify(value, (_name, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
