/** The world of the embedded store, copied into PostgreSQL row by row: both answer the same. */
import { Database as Sqlite } from 'bun:sqlite'
import { SQL } from 'bun'
import { uuidText } from '../../src/kit/uuid.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'

const BATCH_SIZE = 5000
/** What each engine has for itself. */
const NOT_COPIED = ['schema_versions', 'sqlite_sequence']

export async function copyWorld(storeFile: string, databaseUrl: string): Promise<void> {
  await (await openPostgresEngine(databaseUrl, { connections: 2, pooled: false })).close()
  const from = new Sqlite(storeFile, { readonly: true })
  const into = new SQL(databaseUrl, { max: 1 })
  // Tables come in any order, so references are not looked at.
  await into.unsafe('set session_replication_role = replica')
  const tables = from.query("select name from sqlite_master where type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    if (NOT_COPIED.includes(name)) continue
    await into.unsafe(`delete from ${name}`)
    let rows: unknown[] = []
    const send = async () => {
      await into.unsafe(
        `insert into ${name} select * from json_populate_recordset(null::${name}, $1::text::json)`,
        [JSON.stringify(rows, (_, value) => (value instanceof Uint8Array ? uuidText(value) : value))],
      )
      rows = []
    }
    for (const row of from.query(`select * from ${name}`).iterate()) {
      rows.push(row)
      if (rows.length === BATCH_SIZE) await send()
    }
    if (rows.length > 0) await send()
  }
  await into.unsafe('vacuum analyze')
  await into.close()
  from.close()
}
