import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Database } from '../../src/store/database.ts'
import { type AuditFilter, auditQueries } from '../../src/store/queries/audit.ts'
import { type EntitlementFilter, entitlementQueries } from '../../src/store/queries/entitlements.ts'
import { markerQueries, videoQueries } from '../../src/store/queries/videos.ts'
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

/** Every query that `ask` makes, without an answer to any of them. */
async function queriesAsked(ask: (db: Database) => unknown): Promise<Sql[]> {
  const asked: Sql[] = []
  await ask({
    all: async query => {
      asked.push(query)
      return []
    },
    get: async query => {
      asked.push(query)
      return undefined
    },
  })
  return asked
}

/** The query that a filter leads to, on its first page and on a later one. */
function queriesOf(filter: EntitlementFilter): Promise<Sql[]> {
  return queriesAsked(async db => {
    const { page } = entitlementQueries(db)
    await page(filter, { first: 20, direction: 'forward' })
    await page(filter, { first: 20, direction: 'forward', from: ['2026-03-01T12:00:00.000Z', 'x'] })
  })
}

let places: StorePlace[] = []
beforeAll(async () => {
  places = await Promise.all(engines.map(engine => createStorePlace(engine)))
})
afterAll(async () => {
  for (const place of places) await place.remove()
})

function planOf(connection: Sqlite, query: Sql): string {
  const { text, values } = render(query, sqliteFlavor)
  const steps = connection.query(`explain query plan ${text}`).all(...values) as { detail: string }[]
  return steps.map(step => step.detail).join('\n')
}

test('SQLite answers every filter of entitlements by its index, in order, without a scan', async () => {
  const file = `${places[0]?.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Sqlite(file)
  for (const [filter, index] of FILTERS) {
    for (const query of await queriesOf(filter)) {
      const plan = planOf(connection, query)
      expect(plan).toMatch(index)
      expect(plan).not.toContain('TEMP B-TREE')
      if (Object.keys(filter).length > 0) expect(plan).not.toMatch(/SCAN entitlements/)
    }
  }
  connection.close()
})

test('SQLite finds a video and its markers by index, and sorts no more than ties', async () => {
  const file = `${places[0]?.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Sqlite(file)
  const [latest] = await queriesAsked(db => videoQueries(db).latestOf('u'))
  const plan = latest && planOf(connection, latest)
  expect(plan).toMatch(/videos USING INDEX videos_by_user/)
  expect(plan).not.toMatch(/SCAN|TEMP B-TREE FOR ORDER BY/)
  const pages = await queriesAsked(async db => {
    const { ofVideo } = markerQueries(db)
    await ofVideo('v', { first: 20, direction: 'forward' })
    await ofVideo('v', { first: 20, direction: 'backward', from: [15, 'x'] })
  })
  expect(pages.length).toBe(2)
  for (const page of pages) {
    expect(planOf(connection, page)).toMatch(/markers_by_video/)
    expect(planOf(connection, page)).not.toContain('TEMP B-TREE')
    // A bare mark behind `limit` would have SQLite compile the statement anew for each page.
    expect(render(page, sqliteFlavor).text).not.toMatch(/limit \?/)
  }
  connection.close()
})

test('SQLite answers every filter of the audit log by its index, and sorts no more than ties', async () => {
  const file = `${places[0]?.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Sqlite(file)
  const since = '2026-03-01T12:00:00.000Z'
  const filters: [AuditFilter, RegExp][] = [
    [{}, /audit_in_order/],
    [{ since }, /audit_in_order/],
    [{ actor: 'a', since }, /audit_by_actor/],
    [{ operation: 'o', actor: 'a' }, /audit_by_operation/],
    [{ subject: 's', operation: 'o', actor: 'a', until: since }, /audit_by_subject/],
  ]
  for (const [filter, index] of filters) {
    const queries = await queriesAsked(async db => {
      await auditQueries(db).page(filter, { first: 20, direction: 'forward' })
      await auditQueries(db).page(filter, { first: 20, direction: 'forward', from: [since, 'c', 7] })
    })
    for (const query of queries) {
      const plan = planOf(connection, query)
      expect(plan).toMatch(index)
      expect(plan).not.toMatch(/TEMP B-TREE FOR ORDER BY/)
      if (Object.keys(filter).length > 0) expect(plan).not.toMatch(/SCAN audit/)
    }
  }
  const [changes] = await queriesAsked(db =>
    auditQueries(db).changesOf({ subject: 's', place: 'p' }, { first: 20, direction: 'forward' }),
  )
  expect(changes && planOf(connection, changes)).toMatch(/audit_by_subject \(place=\? AND subject=\?\)/)
  connection.close()
})

test('SQLite lists videos by index, newest first, without sorting', async () => {
  const file = `${places[0]?.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Sqlite(file)
  for (const [filter, index] of [
    [{}, /videos_in_order/],
    [{ user_id: 'u' }, /videos_of_user_in_order/],
  ] as const) {
    const queries = await queriesAsked(async db => {
      await videoQueries(db).page(filter, { first: 20, direction: 'forward' })
      await videoQueries(db).page(filter, { first: 20, direction: 'forward', from: ['2026', '1'] })
    })
    for (const query of queries) {
      expect(planOf(connection, query)).toMatch(index)
      expect(planOf(connection, query)).not.toContain('TEMP B-TREE')
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
