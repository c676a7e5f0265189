import type { Page, Window } from '../../contract/page.ts'
import type { AuditEntry } from '../../contract/resources/audit.ts'
import { type AuditRow, type ChainPoint, flawOf } from '../../domain/audit.ts'
import type { Database } from '../database.ts'
import { inOrderOf, keysetPage } from '../keyset.ts'
import { limitedTo, notByIndex, type Sql, sql, verbatim } from '../sql/tag.ts'

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly operation?: string | undefined
  readonly subject?: string | undefined
  /** From this moment on. */
  readonly since?: string | undefined
  /** Up to this moment, without it. */
  readonly until?: string | undefined
}

/** A row by its chain and number, and its hash: what somebody keeps elsewhere to prove later that it is still so. */
export type AuditPoint = { readonly chain: string } & ChainPoint

/**
 * What a look through all chains found: how many rows and where each chain ends, or the first row that is not right. Points
 * that were expected and are older than what is kept can neither be proved nor disproved.
 */
export type AuditVerdict =
  | {
      readonly rows: number
      readonly heads: readonly AuditPoint[]
      readonly untold?: readonly AuditPoint[]
    }
  | { readonly flaw: { readonly chain: string; readonly seq: number; readonly why: string } }

/** A subject, and its place if it has one. */
interface Placed {
  readonly subject: string
  readonly place: string
}

type StoredRow = Omit<AuditRow, 'seq'> & { readonly seq: number | string }

const auditColumns = sql`select chain, seq, at, actor, operation, subject, place, before, after, previous, hash from audit`
const inOrder = inOrderOf('at', 'chain', 'seq')
/** Rows that are held in memory at a time while all are looked through. */
const AT_ONCE = 1000

/** Rows never change, so a walk sees every row that it began with exactly once. */
export const auditKey = (row: AuditEntry) => [row.at, row.chain, row.seq]

export const auditQueries = (db: Database) => ({
  /** Newest first. */
  page: async (filter: AuditFilter, window: Window): Promise<Page<AuditEntry>> => {
    const page = await keysetPage<StoredRow>(db, {
      select: auditColumns,
      where: conditions(filter, await placeOf(db, filter.subject)),
      order: inOrder,
      descending: true,
      window,
    })
    return { ...page, rows: page.rows.map(entryOf) }
  },

  /** How one thing came into being, if that was recorded of it alone. */
  beginningOf: async ({ subject, place }: Placed): Promise<AuditEntry | undefined> => {
    const row = await db.get<StoredRow>(
      sql`${auditColumns} where place = ${place} and subject = ${subject} and before = 'null' order by at limit 1`,
    )
    return row && entryOf(row)
  },

  /** What happened to one thing since it exists, oldest first. */
  changesOf: async ({ subject, place }: Placed, window: Window): Promise<Page<AuditEntry>> => {
    const page = await keysetPage<StoredRow>(db, {
      select: auditColumns,
      where: [sql`place = ${place}`, sql`subject = ${subject}`, sql`before <> 'null'`],
      order: inOrder,
      window,
    })
    return { ...page, rows: page.rows.map(entryOf) }
  },

  /** How many rows there should be. */
  size: async (): Promise<number> => {
    const row = await db.get<{ size: number | string }>(
      sql`select coalesce(sum(seq - begins_after_seq), 0) as size from audit_heads`,
    )
    return Number(row?.size ?? 0)
  },

  /**
   * Looks through every chain, a batch of rows at a time. Others may write meanwhile: a chain is followed to where it ended
   * when its turn came. The points that are expected must be there too: whoever writes all chains anew, or none, makes them
   * whole but not the same.
   */
  verify: async (
    reached: (rows: number) => void = () => undefined,
    expected: readonly AuditPoint[] = [],
  ): Promise<AuditVerdict> => {
    const heads: AuditPoint[] = []
    let rows = 0
    for await (const chain of chainsOf(db)) {
      const ends = await endsOf(db, chain)
      if (ends === undefined) return flawed(chain, 1, 'its chain has no head')
      let point = ends.begin
      while (point.seq < ends.head.seq) {
        const batch = await rowsBehind(db, chain, point.seq, ends.head.seq)
        for (const row of batch) {
          const flaw = flawOf(row, point)
          if (flaw !== undefined) return flawed(chain, point.seq + 1, flaw)
          point = row
        }
        if (batch.length === 0) return flawed(chain, point.seq + 1, 'it is missing')
        rows += batch.length
        reached(rows)
      }
      if (point.hash !== ends.head.hash)
        return flawed(chain, point.seq, 'the head of its chain has another hash')
      const stray = await strayRow(db, chain, ends)
      if (stray !== undefined) return flawed(chain, stray, 'the head of its chain does not know it')
      heads.push({ chain, seq: point.seq, hash: point.hash })
    }
    const untold: AuditPoint[] = []
    for (const point of expected) {
      const hash = await hashAt(db, point)
      if (hash === undefined) return flawed(point.chain, point.seq, 'it was expected and is missing')
      if (hash === 'forgotten') untold.push(point)
      else if (hash !== point.hash)
        return flawed(point.chain, point.seq, 'it has another hash than was expected')
    }
    return { rows, heads, ...(untold.length > 0 && { untold }) }
  },
})

const flawed = (chain: string, seq: number, why: string): AuditVerdict => ({ flaw: { chain, seq, why } })

/** Which index serves is decided here, as for entitlements: the subject names least, then the operation, then the actor. */
function conditions(filter: AuditFilter, place: string | undefined): Sql[] {
  const where: Sql[] = place === undefined ? [] : [sql`place = ${place}`]
  const by = (['subject', 'operation', 'actor'] as const).filter(name => filter[name] !== undefined)
  for (const [index, name] of by.entries()) {
    where.push(sql`${index === 0 ? verbatim(name) : notByIndex(name)} = ${filter[name] ?? ''}`)
  }
  if (filter.since !== undefined) where.push(sql`at >= ${filter.since}`)
  if (filter.until !== undefined) where.push(sql`at < ${filter.until}`)
  return where
}

/** Rows of entitlements have the time of the grant for their place; all others have none. */
async function placeOf(db: Database, subject: string | undefined): Promise<string | undefined> {
  if (subject === undefined) return undefined
  const [kind, id = ''] = subject.split('/')
  if (kind !== 'entitlement') return ''
  const row = await db.get<{ timestamp: string }>(sql`select timestamp from entitlements where id = ${id}`)
  return row?.timestamp ?? ''
}

function entryOf({ previous: _, place: __, seq, before, after, ...row }: StoredRow): AuditEntry {
  return { ...row, seq: Number(seq), before: JSON.parse(before), after: JSON.parse(after) }
}

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
  /** The point in front of the first row. */
  readonly begin: ChainPoint
  readonly head: ChainPoint
}

async function endsOf(db: Database, chain: string): Promise<ChainEnds | undefined> {
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

async function rowsBehind(db: Database, chain: string, seq: number, last: number): Promise<AuditRow[]> {
  const rows = await db.all<StoredRow>(
    sql`${auditColumns} where chain = ${chain} and seq > ${seq} and seq <= ${last} order by seq${limitedTo(AT_ONCE)}`,
  )
  return rows.map(row => ({ ...row, seq: Number(row.seq) }))
}

/** The hash of a row; of the last one that was forgotten, the chain still knows it. */
async function hashAt(db: Database, { chain, seq }: AuditPoint): Promise<string | undefined> {
  const row = await db.get<{ hash: string }>(
    sql`select hash from audit where chain = ${chain} and seq = ${seq}`,
  )
  if (row !== undefined) return row.hash
  const begin = (await endsOf(db, chain))?.begin
  if (begin === undefined || seq > begin.seq) return undefined
  return seq === begin.seq ? begin.hash : 'forgotten'
}

/** A row in front of the beginning or behind the head. The rows are looked at first: whoever writes meanwhile moves the head. */
async function strayRow(db: Database, chain: string, { begin }: ChainEnds): Promise<number | undefined> {
  const found = await db.get<{ first: number | string | null; last: number | string | null }>(
    sql`select (select min(seq) from audit where chain = ${chain}) as first,
          (select max(seq) from audit where chain = ${chain}) as last`,
  )
  const now = await endsOf(db, chain)
  if (found?.first === null || found?.last === null || found === undefined) return undefined
  if (Number(found.last) > (now?.head.seq ?? 0)) return Number(found.last)
  return Number(found.first) <= begin.seq ? Number(found.first) : undefined
}
