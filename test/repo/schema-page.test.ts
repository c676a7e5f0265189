import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { createStorePlace } from '../support/server.ts'

test('docs/schema.md lists every table of the schema once, and no other', async () => {
  const rows = readFileSync('docs/schema.md', 'utf8').match(/^\| `.*?\|/gm) ?? []
  const listed = rows.flatMap(row => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  const place = await createStorePlace('sqlite')
  const file = `${place.folder}/strand.db`
  await (await openSqliteEngine(file)).close()
  const database = new Database(file)
  const tables = database.query("select name from sqlite_schema where type = 'table'").values().flat()
  database.close()
  await place.remove()
  const names = tables.map(String).filter(name => !name.startsWith('sqlite_'))
  expect(listed.toSorted()).toEqual(names.toSorted())
})
