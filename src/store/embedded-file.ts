/** The file of the embedded store as a file: copied, looked through and counted, whether a server uses it or not. */
import { existsSync, statSync } from 'node:fs'
import { type StreamKeyRow, streamKeyQueries } from './queries/streams.ts'
import { SCHEMA_VERSION } from './sql/migrate.ts'
import { openSqlite, sqliteDatabase } from './sql/sqlite-connection.ts'
import { copySqlite } from './sql/sqlite-copy.ts'
import { complaintsOf, isInUse } from './sql/sqlite-examination.ts'

const LOOK_MILLISECONDS = 100
const KEYS_AT_ONCE = 1000

export { complaintsOf, isInUse, SCHEMA_VERSION }

/** What a file of the store holds, for people to compare. */
export interface Contents {
  readonly schema: number
  readonly feedSeq: number
  /** How many rows each table has. */
  readonly rows: Readonly<Record<string, number>>
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

export function contentsOf(file: string): Contents {
  const connection = openSqlite(file, 'read')
  const one = (query: string) => Number((connection.query(query).values()[0] as [number])[0])
  try {
    const tables = connection
      .query("select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name")
      .values() as [string][]
    return {
      schema: one('select coalesce(max(version), 0) from schema_versions'),
      feedSeq: one('select coalesce(max(seq), 0) from feed_head'),
      rows: Object.fromEntries(tables.map(([name]) => [name, one(`select count(*) from "${name}"`)])),
    }
  } finally {
    connection.close()
  }
}

/** How many stream keys each master key has sealed. */
export function streamKeysByMasterKey(file: string): Map<string, number> {
  const connection = openSqlite(file, 'read')
  try {
    return new Map(
      connection
        .query('select key_id, count(*) from stream_keys group by key_id order by key_id')
        .values() as [string, number][],
    )
  } finally {
    connection.close()
  }
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

function bytesInUse(file: string): number {
  const connection = openSqlite(file, 'read')
  const one = (name: string) => Number((connection.query(`pragma ${name}`).values()[0] as [number])[0])
  try {
    return (one('page_count') - one('freelist_count')) * one('page_size')
  } finally {
    connection.close()
  }
}
