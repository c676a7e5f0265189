/** Operations on the file of the embedded store: copy, verify and count, whether or not a server is using it. */
import { existsSync, statSync } from 'node:fs'
import { RESERVED_NAMES } from '../domain/reserved-names.ts'
import { SCHEMA_VERSION } from './engine/migrate.ts'
import type { SchemaState } from './engine/schema-state.ts'
import { auditQueries } from './queries/audit.ts'
import { LAST_BACKUP } from './queries/feed.ts'
import type { MediaServerAddress } from './queries/media-servers.ts'
import { type SealedKind, type SealedRow, sealedSecretQueries } from './queries/sealed-secrets.ts'
import { openSqlite, sqliteDatabase, withSqlite } from './sqlite/sqlite-connection.ts'
import { copySqlite } from './sqlite/sqlite-copy.ts'
import { integrityErrors, isInUse } from './sqlite/sqlite-examination.ts'
import { sqliteSchema } from './sqlite/sqlite-migrate.ts'

/** The size of the header of every store. */
export const STORE_HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

const PROGRESS_MILLISECONDS = 100

export { integrityErrors, isInUse, SCHEMA_VERSION, type SchemaState, sqliteSchema as schemaOf }

/** How recent a store is. */
export interface StoreSummary {
  readonly schema: number
  readonly feedSeq: number
  /** The latest timestamp written by the machine. */
  readonly lastWrite: string
}

/**
 * Copies the store in one consistent state to a file that must not exist, while servers may continue to write. Throws if it
 * fails or the copy is incomplete.
 */
export async function copyStoreFile(
  file: string,
  to: string,
  onProgress: (bytes: number, of: number) => void,
): Promise<void> {
  const expected = bytesInUse(file)
  const timer = setInterval(() => {
    onProgress(existsSync(to) ? Math.min(statSync(to).size, expected) : 0, expected)
  }, PROGRESS_MILLISECONDS)
  try {
    await copySqlite({ file, to })
  } finally {
    clearInterval(timer)
  }
}

/** Records the time of a backup for the metrics of servers, which may be writing meanwhile. */
export function noteBackup(file: string, at: string): void {
  const note =
    'insert into facts (name, value) values (?, ?) on conflict (name) do update set value = excluded.value'
  withSqlite(file, 'write', connection => connection.run(note, [LAST_BACKUP, at]))
}

export function storeSummary(file: string): StoreSummary {
  return inspect(file, one => ({
    schema: Number(one('select coalesce(max(version), 0) from schema_versions')),
    feedSeq: Number(one('select coalesce(max(seq), 0) from feed_head')),
    lastWrite: String(
      one(
        'select max(at) from (select max(at) as at from feed union all select max(applied_at) from schema_versions)',
      ),
    ),
  }))
}

/** The number of rows of each table, for people to compare. */
export function countRows(file: string): Record<string, number> {
  const tables = inspect(file, one =>
    one("select json_group_array(name) from sqlite_schema where type = 'table' and name not like 'sqlite%'"),
  )
  const names: string[] = JSON.parse(String(tables)).toSorted()
  return inspect(file, one =>
    Object.fromEntries(names.map(name => [name, Number(one(`select count(*) from "${name}"`))])),
  )
}

/** The number of stream keys sealed with each master key. */
export function streamKeysByMasterKey(file: string): Map<string, number> {
  const keys = 'select key_id from stream_keys union all select key_id from extra_stream_keys'
  const query = `select key_id, count(*) from (${keys}) group by key_id order by key_id`
  const rows = withSqlite(file, 'read', connection => connection.query(query).values())
  return new Map(rows as [string, number][])
}

/** The users whose follow counts differ from their follows. */
export function wrongFollowCounts(file: string): string[] {
  const query = `
    select id from (
      select user_id as id, 1 as following, 0 as followers from follows
      union all select broadcaster_id, 0, 1 from follows
      union all select user_id, -following, -followers from follow_counts
    ) group by id having sum(following) <> 0 or sum(followers) <> 0 order by id`
  const rows = withSqlite(file, 'read', connection => connection.query(query).values())
  return rows.map(([id]) => String(id))
}

/** The media servers of the store. */
export function mediaServersIn(file: string): MediaServerAddress[] {
  const query = 'select name, adapter, api_url from media_servers order by name'
  return withSqlite(file, 'read', connection => connection.query(query).all() as MediaServerAddress[])
}

/** The logins of users that are reserved by now. */
export function reservedLoginsIn(file: string): string[] {
  const query = `select login from users where login in (${RESERVED_NAMES.map(() => '?').join(', ')}) order by login`
  const rows = withSqlite(file, 'read', connection => connection.query(query).all(...RESERVED_NAMES))
  return (rows as { login: string }[]).map(({ login }) => login)
}

/** Every secret of a kind, in batches. */
export async function* sealedSecretsIn(file: string, kind: SealedKind): AsyncGenerator<readonly SealedRow[]> {
  const db = sqliteDatabase(openSqlite(file, 'read'))
  try {
    yield* sealedSecretQueries(db).batches(kind)
  } finally {
    db.close()
  }
}

/** What is wrong with the audit log of the store; undefined if nothing is. */
export async function auditFlawIn(file: string): Promise<string | undefined> {
  const db = sqliteDatabase(openSqlite(file, 'read'))
  try {
    // One consistent view, because rows may be deleted meanwhile.
    db.execute('begin')
    const verdict = await auditQueries(db).verify()
    if (!('flaw' in verdict)) return undefined
    const { chain, seq, why } = verdict.flaw
    return `row ${seq} of the chain "${chain}": ${why}`
  } finally {
    db.close()
  }
}

/** The size of a store according to its header; undefined if these bytes are not the header of a store. */
export function sizeInHeader(header: Buffer): number | undefined {
  if (header.length < STORE_HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    return undefined
  const pageSize = header.readUInt16BE(16)
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28)
}

function bytesInUse(file: string): number {
  return inspect(file, one => {
    const pages = Number(one('pragma page_count')) - Number(one('pragma freelist_count'))
    return pages * Number(one('pragma page_size'))
  })
}

/** Runs a few queries that return a single value each. */
const inspect = <T>(file: string, read: (one: (query: string) => unknown) => T): T =>
  withSqlite(file, 'read', connection => read(query => connection.query(query).values()[0]?.[0]))
