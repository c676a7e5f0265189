/** Verifies the chains of the audit log ([ADR 0016](../../../docs/adr/0016-the-audit-log.md)). */
import { type AuditRow, type ChainPoint, findFlaw } from '../../domain/audit.ts'
import type { Database } from '../database.ts'
import { asUuid, limitedTo, sql, valuesTable } from '../sql/tag.ts'
import { changedTogether } from './audit-entitlements.ts'
import { auditColumns, type StoredRow } from './audit-rows.ts'

/** A row by chain and number, with its hash. Kept elsewhere, it can later prove that the log was not rewritten. */
export type AuditPoint = { readonly chain: string } & ChainPoint

/**
 * The result of verifying all chains: the number of rows and the end of each chain, or the first flawed row. Expected points
 * older than the rows that are kept can be neither proved nor disproved.
 */
export type AuditVerdict =
  | {
      readonly rows: number
      readonly heads: readonly AuditPoint[]
      /** The first row of each chain that does not begin with row 1. */
      readonly beginnings?: readonly { readonly chain: string; readonly seq: number }[]
      readonly unrecorded?: readonly AuditPoint[]
    }
  | { readonly flaw: { readonly chain: string; readonly seq: number; readonly why: string } }

/** Rows held in memory at a time. */
const BATCH_ROWS = 1000
/** Changes of entitlements that one statement looks for in histories. */
const BATCH_CHANGES = 2000

/**
 * Verifies every chain, in batches of rows. Rows may be written meanwhile: each chain is followed to the end it had when
 * its verification started. The expected points must exist too: rewriting or deleting whole chains leaves a consistent
 * log, but not the same hashes. `keepsAll`: no row may have been removed, so that each chain begins with row 1. Removing
 * the oldest rows and moving the recorded beginning leaves a consistent log, too.
 */
export async function verifyAudit(
  db: Database,
  reached: (rows: number) => void = () => undefined,
  expected: readonly AuditPoint[] = [],
  { keepsAll = false } = {},
): Promise<AuditVerdict> {
  const heads: AuditPoint[] = []
  const beginnings: { chain: string; seq: number }[] = []
  let rows = 0
  for await (const chain of chainsOf(db)) {
    const ends = await readChainEnds(db, chain)
    if (ends === undefined) return flawed(chain, 1, 'its chain has no head')
    let point = ends.begin
    if (point.seq > 0 && keepsAll)
      return flawed(chain, point.seq + 1, 'it is the first, and no retention has removed those before it')
    if (point.seq > 0) beginnings.push({ chain, seq: point.seq + 1 })
    for await (const batch of batchesOf(db, chain, ends)) {
      const lost = await batch.lost
      for (const row of batch.rows) {
        const flaw = findFlaw(row, point) ?? (lost.has(row.seq) ? await lostHistory(db, row) : undefined)
        if (flaw !== undefined) return flawed(chain, point.seq + 1, flaw)
        point = row
      }
      rows += batch.rows.length
      reached(rows)
    }
    if (point.seq < ends.head.seq) return flawed(chain, point.seq + 1, 'it is missing')
    if (point.hash !== ends.head.hash)
      return flawed(chain, point.seq, 'its hash differs from the one in the head of its chain')
    const stray = await strayRow(db, chain, ends)
    if (stray !== undefined) return flawed(chain, stray, 'it is outside the range in the head of its chain')
    heads.push({ chain, seq: point.seq, hash: point.hash })
  }
  const unrecorded: AuditPoint[] = []
  for (const point of expected) {
    const hash = await hashAt(db, point)
    if (hash === undefined) return flawed(point.chain, point.seq, 'it is expected but missing')
    if (hash === 'forgotten') unrecorded.push(point)
    else if (hash !== point.hash)
      return flawed(point.chain, point.seq, 'its hash differs from the expected one')
  }
  return {
    rows,
    heads,
    ...(beginnings.length > 0 && { beginnings }),
    ...(unrecorded.length > 0 && { unrecorded }),
  }
}

const flawed = (chain: string, seq: number, why: string): AuditVerdict => ({ flaw: { chain, seq, why } })

/** Every chain that has a head or a row, in order: found one by one along the indexes. */
async function* chainsOf(db: Database): AsyncGenerator<string> {
  let last = ''
  for (;;) {
    const row = await db.get<{ chain: string | null }>(
      sql`select min(chain) as chain from (
            select min(chain) as chain from audit_heads where chain > ${last}
            union all select min(chain) from audit where chain > ${last}) as next`,
    )
    if (row === undefined || row.chain === null) return
    yield row.chain
    last = row.chain
  }
}

interface ChainEnds {
  /** The point before the first row. */
  readonly begin: ChainPoint
  readonly head: ChainPoint
}

async function readChainEnds(db: Database, chain: string): Promise<ChainEnds | undefined> {
  const row = await db.get<{
    seq: number | string
    hash: string
    begins_after_seq: number | string
    begins_after_hash: string
  }>(sql`select seq, hash, begins_after_seq, begins_after_hash from audit_heads where chain = ${chain}`)
  if (row === undefined) return undefined
  return {
    begin: { seq: Number(row.begins_after_seq), hash: row.begins_after_hash },
    head: { seq: Number(row.seq), hash: row.hash },
  }
}

interface Batch {
  readonly rows: readonly AuditRow[]
  /** The numbers of rows that an entitlement which they changed does not have in its history. */
  readonly lost: Promise<ReadonlySet<number>>
}

/** The rows of a chain. The next batch is read while the histories of one are. */
async function* batchesOf(db: Database, chain: string, { begin, head }: ChainEnds): AsyncGenerator<Batch> {
  let previous: Batch | undefined
  for (let last = begin.seq; last < head.seq; ) {
    const rows = await rowsBehind(db, chain, last, head.seq)
    last = rows.at(-1)?.seq ?? head.seq
    const lost = findLost(db, chain, rows)
    // It may fail before it is awaited.
    lost.catch(() => undefined)
    if (previous !== undefined) yield previous
    previous = { rows, lost }
  }
  if (previous !== undefined) yield previous
}

async function rowsBehind(db: Database, chain: string, seq: number, last: number): Promise<AuditRow[]> {
  const rows = await db.all<StoredRow>(
    sql`${auditColumns} where chain = ${chain} and seq > ${seq} and seq <= ${last} order by seq${limitedTo(BATCH_ROWS)}`,
  )
  return rows.map(row => ({ ...row, seq: Number(row.seq) }))
}

/** The hash of a row, or 'forgotten'. The head of a chain keeps the hash of the last deleted row. */
async function hashAt(db: Database, { chain, seq }: AuditPoint): Promise<string | undefined> {
  const row = await db.get<{ hash: string }>(
    sql`select hash from audit where chain = ${chain} and seq = ${seq}`,
  )
  if (row !== undefined) return row.hash
  const begin = (await readChainEnds(db, chain))?.begin
  if (begin === undefined || seq > begin.seq) return undefined
  return seq === begin.seq ? begin.hash : 'forgotten'
}

/** A row before the beginning or after the head. Reads the rows first, because concurrent writes move the head. */
async function strayRow(db: Database, chain: string, { begin }: ChainEnds): Promise<number | undefined> {
  const found = await db.get<{ first: number | string | null; last: number | string | null }>(
    sql`select (select min(seq) from audit where chain = ${chain}) as first,
          (select max(seq) from audit where chain = ${chain}) as last`,
  )
  const now = await readChainEnds(db, chain)
  if (found?.first === null || found?.last === null || found === undefined) return undefined
  if (Number(found.last) > (now?.head.seq ?? 0)) return Number(found.last)
  return Number(found.first) <= begin.seq ? Number(found.first) : undefined
}

/** A row, and an entitlement that it changed. */
type Change = Readonly<{ seq: number; at: number; id: string }>

async function findLost(
  db: Database,
  chain: string,
  rows: readonly AuditRow[],
): Promise<ReadonlySet<number>> {
  const changes = rows.flatMap(row =>
    changedTogether(row).map(id => ({ seq: row.seq, at: Date.parse(row.at), id })),
  )
  const lost = new Set<number>()
  for (let at = 0; at < changes.length; at += BATCH_CHANGES)
    for (const seq of await readLost(db, chain, changes.slice(at, at + BATCH_CHANGES))) lost.add(seq)
  return lost
}

/** Each is found by its key, with a sub-select for each: PostgreSQL might read all histories for a join. */
async function readLost(db: Database, chain: string, changes: readonly Change[]): Promise<number[]> {
  const id = asUuid(sql`changes.id`)
  const rows = await db.all<{ seq: number | string }>(
    sql`select seq from ${valuesTable(changes, ['seq', 'at', 'id'])} as changes
        where (select h.seq from audit_entitlements h
               where h.timestamp = (select min(e.timestamp) from organization_entitlements e where e.id = ${id})
                 and h.id = ${id} and h.at = cast(changes.at as bigint) and h.seq = cast(changes.seq as bigint)
                 and h.chain = (select number from audit_heads where chain = ${chain})) is null`,
  )
  return rows.map(({ seq }) => Number(seq))
}

async function lostHistory(db: Database, row: AuditRow): Promise<string | undefined> {
  // Its deletion because of its age is no flaw.
  const isKept = (await hashAt(db, row)) === row.hash
  return isKept ? 'the history of an entitlement that it changed does not contain it' : undefined
}
