/** Every start asks which master keys are in use: the answer is right, and found by an index. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import type { Database } from '../../src/store/database.ts'
import { streamKeyQueries } from '../../src/store/queries/stream-keys.ts'
import { sqliteDialect } from '../../src/store/sql/dialects.ts'
import { type Query, render } from '../../src/store/sql/tag.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

for (const engine of engines) {
  test(`each master key that sealed a stream key is named once, on ${engine}`, async () => {
    const { store, close } = await openTestStore(engine)
    expect(await store.streamKeys.masterKeys()).toEqual([])
    for (const [n, key_id] of ['b', 'a', 'b', 'c', 'a'].entries()) {
      const stream_key = { ...anyStreamKey(`key ${n}`), key_id }
      await store.commands.putUser({ id: `${n + 1}`, login: `user_${n}`, stream_key, now: Date.now() })
    }
    expect(await store.streamKeys.masterKeys()).toEqual(['a', 'b', 'c'])
    await close()
  })
}

test('no stream key is read for that', async () => {
  const place = await createStorePlace('sqlite')
  const file = `${place.folder}/strand.db`
  await (await openSqliteEngine(file)).close()
  const asked: Query[] = []
  const db: Database = {
    all: async query => {
      asked.push(query)
      return []
    },
    get: async () => undefined,
  }
  await streamKeyQueries(db).masterKeys()
  using connection = new Sqlite(file)
  const steps = asked.flatMap(
    query =>
      connection.query(`explain query plan ${render(query, sqliteDialect).text}`).all() as {
        detail: string
      }[],
  )
  const onKeys = steps.map(({ detail }) => detail).filter(detail => /\b(stream_keys|k)\b/.test(detail))
  expect(onKeys.length).toBeGreaterThan(1)
  for (const detail of onKeys)
    expect(detail).toMatch(/^SEARCH .* USING COVERING INDEX stream_keys_by_master_key/)
  await place.remove()
})
