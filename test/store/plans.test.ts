import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Database } from '../../src/store/database.ts'
import { type EntitlementFilter, entitlementQueries } from '../../src/store/queries/entitlements.ts'
import { postgresFlavor, sqliteFlavor } from '../../src/store/sql/flavors.ts'
import { migrateSqlite } from '../../src/store/sql/sqlite.ts'
import { render, type Sql } from '../../src/store/sql/tag.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'

/** The index that each filter must be answered by, with statistics or without. */
const FILTERS: readonly (readonly [filter: EntitlementFilter, index: RegExp])[] = [
  [{ organization_id: 'o' }, /entitlements_in_order/],
  [{ organization_id: 'o', user_id: 'u' }, /entitlements_by_user/],
  [{ organization_id: 'o', user_id: 'u', game_id: 'g' }, /entitlements_by_user/],
  [{ organization_id: 'o', user_id: 'u', fulfillment_status: 'CLAIMED' }, /entitlements_by_user/],
  [
    { organization_id: 'o', user_id: 'u', game_id: 'g', fulfillment_status: 'CLAIMED' },
    /entitlements_by_user/,
  ],
  [{ organization_id: 'o', game_id: 'g' }, /entitlements_by_game\b/],
  [{ organization_id: 'o', game_id: 'g', fulfillment_status: 'CLAIMED' }, /entitlements_by_game_and_status/],
  [{ organization_id: 'o', fulfillment_status: 'CLAIMED' }, /entitlements_by_status/],
  [{ organization_id: 'o', ids: ['a', 'b'] }, /sqlite_autoindex_entitlements_1|entitlements_pkey/],
  [
    { organization_id: 'o', ids: ['a', 'b'], user_id: 'u', game_id: 'g' },
    /sqlite_autoindex_entitlements_1|entitlements_pkey/,
  ],
  [{}, /entitlements_of_all/],
]

/** The query that a filter leads to, on its first page and on a later one. */
async function queriesOf(filter: EntitlementFilter): Promise<Sql[]> {
  const asked: Sql[] = []
  const listening: Database = {
    all: async query => {
      asked.push(query)
      return []
    },
    get: async () => undefined,
  }
  const { page } = entitlementQueries(listening)
  await page(filter, { first: 20, direction: 'forward' })
  await page(filter, { first: 20, direction: 'forward', from: ['2026-03-01T12:00:00.000Z', 'x'] })
  return asked
}

let places: StorePlace[] = []
beforeAll(async () => {
  places = await Promise.all(engines.map(engine => createStorePlace(engine)))
})
afterAll(async () => {
  for (const place of places) await place.remove()
})

test('SQLite answers every filter of entitlements by its index, in order, without a scan', async () => {
  const file = `${places[0]?.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Sqlite(file)
  for (const [filter, index] of FILTERS) {
    for (const query of await queriesOf(filter)) {
      const { text, values } = render(query, sqliteFlavor)
      const steps = connection.query(`explain query plan ${text}`).all(...values) as { detail: string }[]
      const plan = steps.map(step => step.detail).join('\n')
      expect(plan).toMatch(index)
      expect(plan).not.toContain('TEMP B-TREE')
      if (Object.keys(filter).length > 0) expect(plan).not.toMatch(/SCAN entitlements/)
    }
  }
  connection.close()
})

test('PostgreSQL does the same when rows are many', async () => {
  const url = places[1]?.databaseUrl
  if (url === undefined) return
  const client = new SQL(url, { max: 1 })
  await client.unsafe(`
    insert into organizations values ('o', 'o');
    insert into games values ('g', 'g', 'o');
    insert into benefits values ('b', 'b', 'o', 'g');
    insert into entitlements select md5(n::text), 'o', 'b', (n % 5000)::text, 'g', to_char(n, 'FM00000000'),
      case when n % 100 = 0 then 'CLAIMED' else 'FULFILLED' end, 't' from generate_series(1, 50000) as n;
    analyze entitlements`)
  for (const [filter, index] of FILTERS) {
    // Only one game and organization exist here, so that a plan by less than the whole filter may be as good.
    if (filter.user_id === undefined && filter.ids === undefined) continue
    for (const query of await queriesOf(filter)) {
      const { text, values } = render(query, postgresFlavor)
      const rows = await client.unsafe(`explain ${text}`, [...values])
      const plan = rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(index)
      expect(plan).not.toContain('Seq Scan')
    }
  }
  await client.close()
})
