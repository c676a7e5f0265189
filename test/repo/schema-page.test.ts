import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStorePlace } from '../support/server.ts'

test('docs/schema.md lists every table of the schema once, with the tables that it refers to, and no other', async () => {
  const rows = readFileSync('docs/schema.md', 'utf8').matchAll(/^\| `(\w+)` \|[^|]+\|([^|]*)\|$/gm)
  const listed = Array.from(rows, ([, name = '', references = '']) => ({
    name,
    references: (references.match(/\w+/g) ?? []).toSorted(),
  }))
  const place = await createStorePlace('sqlite')
  const file = `${place.folder}/strand.db`
  await (await openSqliteEngine(file)).close()
  const database = new Database(file)
  const tables = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' order by name")
    .all()
    .filter(({ name }) => !name.startsWith('sqlite_'))
    .map(({ name }) => {
      const keys = database.query('select distinct "table" from pragma_foreign_key_list(?)').values(name)
      return { name, references: keys.flat().map(String).toSorted() }
    })
  database.close()
  await place.remove()
  expect(listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(tables)
})
