/** The file of the embedded store as a file: copied, looked through and counted, whether a server uses it or not. */
import { existsSync, statSync } from 'node:fs'
import { SCHEMA_VERSION } from './engines/migrate.ts'
import type { SchemaState } from './engines/schema-state.ts'
import { openSqlite, sqliteDatabase, withSqlite } from './engines/sqlite-connection.ts'
import { copySqlite } from './engines/sqlite-copy.ts'
import { integrityErrors, isInUse } from './engines/sqlite-examination.ts'
import { sqliteSchema } from './engines/sqlite-migrate.ts'
import { auditQueries } from './queries/audit.ts'
import { LAST_BACKUP } from './queries/feed.ts'
import { type StreamKeyRow, streamKeyQueries } from './queries/streams.ts'

/** What every store begins with. */
export const STORE_HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

const LOOK_MILLISECONDS = 100
const KEYS_AT_ONCE = 1000

export { integrityErrors, isInUse, SCHEMA_VERSION, type SchemaState, sqliteSchema as schemaOf }

/** How far a store has come. */
export interface StoreSummary {
  readonly schema: number
  readonly feedSeq: number
  /** When something was last written that bears the time of the machine. */
  readonly lastWrite: string
}

/**
 * Copies the store as it is at one moment, while servers may go on writing, to a file that must not be there yet. Throws if
 * it cannot, or if the copy is not whole.
 */
export async function copyStoreFile(
  file: string,
  to: string,
  onProgress: (bytes: number, of: number) => void,
): Promise<void> {
  const expected = bytesInUse(file)
  const looking = setInterval(() => {
    onProgress(existsSync(to) ? Math.min(statSync(to).size, expected) : 0, expected)
  }, LOOK_MILLISECONDS)
  try {
    await copySqlite({ file, to })
  } finally {
    clearInterval(looking)
  }
}

/** Notes when a backup was made, for the metrics of servers; they may be writing meanwhile. */
export function noteBackup(file: string, at: string): void {
  const note =
    'insert into facts (name, value) values (?, ?) on conflict (name) do update set value = excluded.value'
  withSqlite(file, 'write', connection => connection.run(note, [LAST_BACKUP, at]))
}

export function storeSummary(file: string): StoreSummary {
  return look(file, one => ({
    schema: Number(one('select coalesce(max(version), 0) from schema_versions')),
    feedSeq: Number(one('select coalesce(max(seq), 0) from feed_head')),
    lastWrite: String(
      one(
        'select max(at) from (select max(at) as at from feed union all select max(applied_at) from schema_versions)',
      ),
    ),
  }))
}

/** How many rows each table has, for people to compare. */
export function rowsOf(file: string): Record<string, number> {
  const tables = look(file, one =>
    one("select json_group_array(name) from sqlite_schema where type = 'table' and name not like 'sqlite%'"),
  )
  const names: string[] = JSON.parse(String(tables)).toSorted()
  return look(file, one =>
    Object.fromEntries(names.map(name => [name, Number(one(`select count(*) from "${name}"`))])),
  )
}

/** How many stream keys each master key has sealed. */
export function streamKeysByMasterKey(file: string): Map<string, number> {
  const query = 'select key_id, count(*) from stream_keys group by key_id order by key_id'
  const rows = withSqlite(file, 'read', connection => connection.query(query).values())
  return new Map(rows as [string, number][])
}

/** Every stream key of the store, in batches. */
export async function* streamKeysIn(file: string): AsyncGenerator<readonly StreamKeyRow[]> {
  const db = sqliteDatabase(openSqlite(file, 'read'))
  try {
    let last: { user_id: string; version: number } | undefined
    for (;;) {
      const rows = await streamKeyQueries(db).after(last, KEYS_AT_ONCE)
      if (rows.length === 0) return
      yield rows
      last = rows.at(-1)
    }
  } finally {
    db.close()
  }
}

/** What is wrong with the store's audit log, in a few words; undefined if nothing is. */
export async function auditFlawIn(file: string): Promise<string | undefined> {
  const db = sqliteDatabase(openSqlite(file, 'read'))
  try {
    // One view of it: rows may be forgotten meanwhile.
    db.printLine('begin')
    const verdict = await auditQueries(db).verify()
    if (!('flaw' in verdict)) return undefined
    const { chain, seq, why } = verdict.flaw
    return `row ${seq} of the chain "${chain}": ${why}`
  } finally {
    db.close()
  }
}

/** How large a store says that it is, in its first bytes; undefined if they are not those of a store. */
export function sizeInHeader(header: Buffer): number | undefined {
  if (header.length < STORE_HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    return undefined
  const pageSize = header.readUInt16BE(16)
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28)
}

function bytesInUse(file: string): number {
  return look(file, one => {
    const pages = Number(one('pragma page_count')) - Number(one('pragma freelist_count'))
    return pages * Number(one('pragma page_size'))
  })
}

/** Runs a few queries, each of which has one value for an answer. */
const look = <T>(file: string, ask: (one: (query: string) => unknown) => T): T =>
  withSqlite(file, 'read', connection => ask(query => connection.query(query).values()[0]?.[0]))
