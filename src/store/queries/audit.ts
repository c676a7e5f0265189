import type { Page, Window } from '../../contract/page.ts'
import type { AuditEntry } from '../../contract/resources/audit.ts'
import type { Entitlement } from '../../contract/resources/entitlement.ts'
import { type AuditRow, type ChainPoint, flawOf } from '../../domain/audit.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import { isUuid } from '../../kit/uuid.ts'
import type { Database } from '../database.ts'
import { keysetPage, type List, pickedPage, pickFrom } from '../keyset.ts'
import { compareKeys, inOrderOf } from '../keyset-order.ts'
import {
  all,
  isOneOfUuids,
  joined,
  limitedTo,
  type Sql,
  type StoredUuid,
  sql,
  uuidValue,
  verbatim,
} from '../sql/tag.ts'
import { readTime, readUuid } from './entitlement-rows.ts'
import { entitlementSubject } from './entitlements.ts'

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly operation?: string | undefined
  readonly subject?: string | undefined
  /** Inclusive. */
  readonly since?: string | undefined
  /** Exclusive. */
  readonly until?: string | undefined
}

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

type Granted = Pick<Entitlement, 'id' | 'timestamp'>

type StoredRow = Omit<AuditRow, 'seq'> & { readonly seq: number | string }

const auditColumns = sql`select chain, seq, at, actor, operation, subject, place, before, after, previous, hash from audit`
const inOrder = inOrderOf('at', 'chain', 'seq')
/** Rows held in memory at a time during verification. */
const AT_ONCE = 1000
/** Entitlements whose histories are read by one statement. */
const IDS_AT_ONCE = 2000

/** Rows never change, so pagination returns every row that existed at its start exactly once. */
export const auditSortKey = (row: AuditEntry) => [row.at, row.chain, row.seq]
const storedKey = (row: StoredRow) => [row.at, row.chain, Number(row.seq)]
/** Rows of a subject that are searched for its creation. */
const BEGINNING_ROWS = 100

export const auditQueries = (db: Database) => ({
  /** Newest first. */
  page: async (filter: AuditFilter, window: Window): Promise<Page<AuditEntry>> => {
    const { since, until, subject, operation, actor } = filter
    const list = {
      select: auditColumns,
      order: inOrder,
      descending: true,
      keyOf: storedKey,
      // Start after all rows that are not before `until`.
      window: until === undefined || window.from !== undefined ? window : { ...window, from: [until, '', 0] },
    }
    const notOlder = since === undefined ? [] : [sql`at >= ${since}`]
    if (subject === undefined) {
      const ranges = await rangesOf(db, filter)
      return asEntries(await keysetPage<StoredRow>(db, { ...list, where: notOlder, ranges }))
    }
    const keeps = (row: StoredRow) =>
      (operation ?? row.operation) === row.operation && (actor ?? row.actor) === row.actor
    const granted = await entitlementOf(db, subject)
    const where = [sql`place = ${granted?.timestamp ?? ''}`, sql`subject = ${subject}`, ...notOlder]
    if (granted === undefined) return asEntries(await pickedPage<StoredRow>(db, { ...list, where, keeps }))
    const read = (next: Window) => entitlementRows(db, granted, { ...list, where, window: next }, since)
    return asEntries(await pickFrom<StoredRow>(read, { ...list, keeps }))
  },

  /** How an entitlement was granted, if that was recorded separately. */
  grantOf: async (granted: Granted): Promise<AuditEntry | undefined> => {
    // It is the first row, unless the clock was set back.
    const rows = await db.all<StoredRow>(
      sql`${auditColumns} where ${all(ofEntitlement(granted))} order by at${limitedTo(BEGINNING_ROWS)}`,
    )
    const row = rows.find(each => each.before === 'null')
    return row && entryOf(row)
  },

  /** The changes of an entitlement since its grant, oldest first. */
  changesOf: async (granted: Granted, window: Window): Promise<Page<AuditEntry>> => {
    const list = { select: auditColumns, where: ofEntitlement(granted), order: inOrder, keyOf: storedKey }
    const read = (next: Window) => entitlementRows(db, granted, { ...list, window: next })
    const keeps = (row: StoredRow) => row.before !== 'null'
    return asEntries(await pickFrom<StoredRow>(read, { ...list, window, keeps }))
  },

  /** The number of rows according to the heads. */
  size: async (): Promise<number> => {
    const row = await db.get<{ size: number | string }>(
      sql`select coalesce(sum(seq - begins_after_seq), 0) as size from audit_heads`,
    )
    return Number(row?.size ?? 0)
  },

  /**
   * Verifies every chain, in batches of rows. Rows may be written meanwhile: each chain is followed to the end it had when
   * its verification started. The expected points must exist too: rewriting or deleting whole chains leaves a consistent
   * log, but not the same hashes. `keepsAll`: no row may have been removed, so that each chain begins with row 1. Removing
   * the oldest rows and moving the recorded beginning leaves a consistent log, too.
   */
  verify: async (
    reached: (rows: number) => void = () => undefined,
    expected: readonly AuditPoint[] = [],
    { keepsAll = false } = {},
  ): Promise<AuditVerdict> => {
    const heads: AuditPoint[] = []
    const beginnings: { chain: string; seq: number }[] = []
    let rows = 0
    for await (const chain of chainsOf(db)) {
      const ends = await endsOf(db, chain)
      if (ends === undefined) return flawed(chain, 1, 'its chain has no head')
      let point = ends.begin
      if (point.seq > 0 && keepsAll)
        return flawed(chain, point.seq + 1, 'it is the first, and no retention has removed those before it')
      if (point.seq > 0) beginnings.push({ chain, seq: point.seq + 1 })
      for await (const batch of batchesOf(db, chain, ends)) {
        const found = await historiesOf(db, chain, batch)
        for (const row of batch) {
          const flaw = flawOf(row, point) ?? (await lostHistory(db, row, found))
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
  },
})

const flawed = (chain: string, seq: number, why: string): AuditVerdict => ({ flaw: { chain, seq, why } })

/**
 * The index ranges that serve a filter: one index has operation and time, the other actor, operation and time. Without an
 * operation there is one range per operation, of which the API has a limited number.
 */
async function rangesOf(db: Database, { actor, operation }: AuditFilter): Promise<readonly Sql[]> {
  if (actor === undefined) {
    const operations = operation === undefined ? await operationsIn(db, 'operation') : [operation]
    return operations.map(each => sql`operation = ${each}`)
  }
  const operations = operation === undefined ? await operationsIn(db, DONE_BY_ACTOR, actor) : [operation]
  return operations.map(each => sql`actor = ${actor} and ${verbatim(DONE_BY_ACTOR)} = ${each}`)
}

/** The operation as the actor index has it. Written this way, the planner does not consider the operation index. */
const DONE_BY_ACTOR = "(operation || '')"

/** Finds the distinct values one by one, skipping the rows in between. */
async function operationsIn(db: Database, column: string, actor?: string): Promise<string[]> {
  const operation = verbatim(column)
  const ofActor = actor === undefined ? sql`1 = 1` : sql`actor = ${actor}`
  const rows = await db.all<{ operation: string }>(
    sql`with recursive found (operation) as (
          select min(${operation}) from audit where ${ofActor}
          union all
          select (select min(${operation}) from audit where ${ofActor} and ${operation} > found.operation)
          from found where found.operation is not null)
        select operation from found where operation is not null`,
  )
  return rows.map(row => row.operation)
}

/** Rows about one entitlement have the time of the grant as their place; all others have none. */
const ofEntitlement = (granted: Granted): Sql[] => {
  const { place, subject } = entitlementSubject(granted)
  return [sql`place = ${place}`, sql`subject = ${subject}`]
}

/** The entitlement that a subject names, if it exists. */
async function entitlementOf(db: Database, subject: string): Promise<Granted | undefined> {
  const [kind, id = ''] = subject.split('/')
  if (kind !== 'entitlement' || !isUuid(id)) return undefined
  const row = await db.get<{ timestamp: number | string }>(
    sql`select timestamp from organization_entitlements where ${isOneOfUuids(sql`id`, [id])}`,
  )
  return row && { id, timestamp: readTime(row.timestamp) }
}

/** Rows about one entitlement at the same time, in different chains: few, because its times move forward. */
const MAX_TIES = 8

/** The rows about an entitlement: those about no other, which `list` reads, and those of changes of several at once. */
async function entitlementRows(
  db: Database,
  granted: Granted,
  list: List<StoredRow>,
  since?: string,
): Promise<Page<StoredRow>> {
  const { first, from } = list.window
  const [descending, sign] = list.descending === true ? [true, -1] : [false, 1]
  const own = await keysetPage(db, list)
  const bounds = [
    sql`timestamp = ${Date.parse(granted.timestamp)}`,
    sql`id = ${uuidValue(granted.id)}`,
    ...(from === undefined ? [] : [boundedBy(String(from[0]), descending)]),
    ...(since === undefined ? [] : [sql`at >= ${Date.parse(since)}`]),
  ]
  const order = verbatim(descending ? ' order by at desc' : ' order by at')
  const changes = await db.all<{ chain: string; seq: number | string }>(
    sql`select (select h.chain from audit_heads h where h.number = changed.chain) as chain, seq
        from (select chain, seq from audit_entitlements where ${all(bounds)}${order}${limitedTo(first + 1 + MAX_TIES)}) as changed`,
  )
  const shared = await rowsAt(db, changes)
  const rows = [
    ...own.rows,
    ...shared.filter(row => from === undefined || sign * compareKeys(storedKey(row), from) > 0),
  ].sort((a, b) => sign * compareKeys(storedKey(a), storedKey(b)))
  return { rows: rows.slice(0, first), more: own.more || rows.length > first }
}

/** Rows read by one statement; each number of them is a separate statement. */
const MAX_READ = 16

/** The rows at these points, each found by its key: PostgreSQL would read the whole log for a join. */
async function rowsAt(
  db: Database,
  points: readonly { readonly chain: string; readonly seq: number | string }[],
): Promise<StoredRow[]> {
  const reads: MaybePromise<StoredRow[]>[] = []
  for (let at = 0; at < points.length; at += MAX_READ) {
    const each = points
      .slice(at, at + MAX_READ)
      .map(({ chain, seq }) => sql`${auditColumns} where chain = ${chain} and seq = ${Number(seq)}`)
    reads.push(db.all<StoredRow>(joined(each, ' union all ')))
  }
  return (await Promise.all(reads)).flat()
}

const boundedBy = (at: string, descending: boolean): Sql =>
  descending ? sql`at <= ${Date.parse(at)}` : sql`at >= ${Date.parse(at)}`

const asEntries = (page: Page<StoredRow>): Page<AuditEntry> => ({ ...page, rows: page.rows.map(entryOf) })

function entryOf({ previous: _, place: __, seq, before, after, ...row }: StoredRow): AuditEntry {
  return { ...row, seq: Number(seq), before: JSON.parse(before), after: JSON.parse(after) }
}

/** The ids of entitlements whose status a row changed together. */
export function changedTogether({ subject, after }: Pick<StoredRow, 'subject' | 'after'>): readonly string[] {
  if (subject !== 'entitlements') return []
  const { ids = [] } = JSON.parse(after) as { readonly ids?: readonly string[] }
  return ids
}

/** The entitlements whose histories lead to a row, by the number of the row. */
type Histories = ReadonlyMap<number, ReadonlySet<string>>

/** Of all rows of a batch, with as few statements as the length of their lists allows. */
async function historiesOf(db: Database, chain: string, batch: readonly AuditRow[]): Promise<Histories> {
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
    if (part.ids.size >= IDS_AT_ONCE) await readPart()
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

/** `changed`: the keys of entitlements. Found first, because PostgreSQL would search the list for each row of a join. */
export const changedEntitlements = (ids: readonly string[]): Sql =>
  sql`changed as materialized (
        select timestamp, id from organization_entitlements where ${isOneOfUuids(sql`id`, ids)})`

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
    sql`${auditColumns} where chain = ${chain} and seq > ${seq} and seq <= ${last} order by seq${limitedTo(AT_ONCE)}`,
  )
  return rows.map(row => ({ ...row, seq: Number(row.seq) }))
}

/** The hash of a row, or 'forgotten'. The head of a chain keeps the hash of the last deleted row. */
async function hashAt(db: Database, { chain, seq }: AuditPoint): Promise<string | undefined> {
  const row = await db.get<{ hash: string }>(
    sql`select hash from audit where chain = ${chain} and seq = ${seq}`,
  )
  if (row !== undefined) return row.hash
  const begin = (await endsOf(db, chain))?.begin
  if (begin === undefined || seq > begin.seq) return undefined
  return seq === begin.seq ? begin.hash : 'forgotten'
}

/** A row before the beginning or after the head. Reads the rows first, because concurrent writes move the head. */
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
