/** Verifies the chains of the audit log ([ADR 0016](../../../docs/adr/0016-the-audit-log.md)). */
import { type AuditRow, type ChainPoint, findFlaw } from '../../domain/audit.ts'
import type { Database } from '../database.ts'
import { limitedTo, type StoredUuid, sql } from '../sql/tag.ts'
import { changedEntitlements, changedTogether } from './audit-entitlements.ts'
import { auditColumns, type StoredRow } from './audit-rows.ts'
import { readUuid } from './entitlement-rows.ts'

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
/** Entitlements whose histories are read by one statement. */
const BATCH_ENTITLEMENTS = 2000

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
      const found = await findHistories(db, chain, batch)
      for (const row of batch) {
        const flaw = findFlaw(row, point) ?? (await lostHistory(db, row, found))
        if (flaw !== undefined) return flawed(chain, point.seq + 1, flaw)
        point = row
      }
      rows += batch.length
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

/** The rows of a chain. While one batch is verified, the next is read. */
async function* batchesOf(
  db: Database,
  chain: string,
  { begin, head }: ChainEnds,
): AsyncGenerator<readonly AuditRow[]> {
  const readBehind = (seq: number): Promise<AuditRow[]> => {
    const reading = rowsBehind(db, chain, seq, head.seq)
    // It may fail before it is awaited.
    reading.catch(() => undefined)
    return reading
  }
  for (let next = readBehind(begin.seq), last = begin.seq; last < head.seq; ) {
    const batch: readonly AuditRow[] = await next
    last = batch.at(-1)?.seq ?? head.seq
    if (last < head.seq) next = readBehind(last)
    if (batch.length > 0) yield batch
  }
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

/** The entitlements whose histories lead to a row, by the number of the row. */
type Histories = ReadonlyMap<number, ReadonlySet<string>>

/** The entitlements whose history refers to each row of a batch, by the number of the row. Uses as few statements as possible. */
async function findHistories(db: Database, chain: string, batch: readonly AuditRow[]): Promise<Histories> {
  const found = new Map<number, Set<string>>()
  let part: { rows: AuditRow[]; ids: Set<string> } = { rows: [], ids: new Set() }
  const readPart = async () => {
    for (const { seq, id } of await readHistories(db, chain, part.rows, [...part.ids])) {
      const ids = found.get(Number(seq)) ?? new Set()
      found.set(Number(seq), ids.add(readUuid(id)))
    }
    part = { rows: [], ids: new Set() }
  }
  for (const row of batch) {
    const ids = changedTogether(row)
    if (ids.length === 0) continue
    part.rows.push(row)
    for (const id of ids) part.ids.add(id)
    if (part.ids.size >= BATCH_ENTITLEMENTS) await readPart()
  }
  if (part.rows.length > 0) await readPart()
  return found
}

async function readHistories(
  db: Database,
  chain: string,
  rows: readonly AuditRow[],
  ids: readonly string[],
): Promise<{ seq: number | string; id: StoredUuid }[]> {
  const times = rows.map(row => Date.parse(row.at))
  const numbers = rows.map(row => row.seq)
  // The entitlements come first: each history is then read by its key, and only from the time of these rows.
  return db.all(
    sql`with ${changedEntitlements(ids)}
        select h.seq, h.id from changed cross join audit_entitlements h
        where h.timestamp = changed.timestamp and h.id = changed.id
          and h.at >= ${times.reduce((a, b) => Math.min(a, b))} and h.at <= ${times.reduce((a, b) => Math.max(a, b))}
          and h.seq >= ${numbers[0] ?? 0} and h.seq <= ${numbers.at(-1) ?? 0}
          and h.chain = (select number from audit_heads where chain = ${chain})`,
  )
}

/** Whether the history of every entitlement leads to the row that changed it. */
async function lostHistory(db: Database, row: AuditRow, found: Histories): Promise<string | undefined> {
  const ids = changedTogether(row)
  const known = found.get(row.seq)
  if (ids.every(id => known?.has(id))) return undefined
  // Its deletion because of its age is no flaw.
  const isKept = (await hashAt(db, row)) === row.hash
  return isKept ? 'the history of an entitlement that it changed does not contain it' : undefined
}
