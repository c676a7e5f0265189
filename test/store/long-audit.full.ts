/**
 * A long audit log, whose rows change two entitlements each: verifying and pruning it read the histories of these entitlements,
 * and not all histories again for each batch. PostgreSQL has no statistics, as after a restore.
 *
 * `TEST_AUDIT_ROWS=200000` verifies so many rows and prints how many per second.
 */
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { anyStreamKey, openStore } from '../support/store/stores.ts'

const ROWS = Number(process.env.TEST_AUDIT_ROWS ?? 20_000)
const IS_MEASURED = process.env.TEST_AUDIT_ROWS !== undefined
const ENTITLEMENTS = 2000
const STEPS = 500
const GRANTS = 1000
const NOW = Date.parse('2026-03-01T12:00:00Z')
const TABLES = `'audit', 'audit_entitlements', 'organization_entitlements'`

const id = (n: number) => `00000000-0000-4000-8000-${100_000_000_000 + (n % ENTITLEMENTS)}`

async function fill(place: StorePlace): Promise<void> {
  const store = await openStore(place, 2)
  await store.commands.runSteps({
    steps: [
      ['putOrganization', { id: 'o', name: 'O' }],
      ['putGame', { id: '1', name: 'G', organization_id: 'o' }],
      ['putBenefit', { id: 'b', name: 'B', organization_id: 'o', game_id: '1' }],
      ['putUser', { id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW }],
    ] as never,
  })
  const timestamp = new Date(NOW).toISOString()
  const grant = { user_id: '1', benefit_id: 'b', game_id: '1', timestamp, timestampGiven: true }
  for (let first = 0; first < ENTITLEMENTS; first += GRANTS)
    await store.commands.grantEntitlements({
      grants: Array.from({ length: GRANTS }, (_, n) => ({ ...grant, id: id(first + n) })),
    })
  for (let first = 0; first < ROWS; first += STEPS) {
    const steps = Array.from({ length: STEPS }, (_, n) => [
      'updateEntitlements',
      {
        ids: [id(2 * (first + n)), id(2 * (first + n) + 1)],
        fulfillment_status: ((2 * (first + n)) / ENTITLEMENTS) % 2 < 1 ? 'FULFILLED' : 'CLAIMED',
        reach: { organization_id: 'o' },
        failing: [],
        now: NOW + first + n + 1,
      },
    ])
    const author = { actor: 'operator', operation: 'UpdateDropsEntitlements', chain: 'o', at: timestamp }
    await store.as(author).commands.runSteps({ steps } as never)
  }
  await store.close()
}

/** Rows that PostgreSQL has read without an index. Connections report them when they are closed. */
async function rowsScanned({ databaseUrl = '' }: StorePlace): Promise<number> {
  const client = new SQL(databaseUrl, { max: 1 })
  const [row] = await client.unsafe(
    `select sum(seq_tup_read) as n from pg_stat_user_tables where relname in (${TABLES})`,
  )
  await client.close()
  return Number(row.n)
}

test.each(engines)(
  'is verified and pruned along indexes on %s',
  async engine => {
    const place = await createStorePlace(engine)
    const isPostgres = place.databaseUrl !== undefined
    if (isPostgres)
      for (const table of TABLES.replaceAll("'", '').split(', '))
        await executeIn(place, `alter table ${table} set (autovacuum_enabled = off)`)
    await fill(place)
    const before = isPostgres ? await rowsScanned(place) : 0
    const store = await openStore(place)
    const began = performance.now()
    expect(await store.audit.verify()).toMatchObject({ rows: ROWS })
    const seconds = (performance.now() - began) / 1000
    if (IS_MEASURED) process.stdout.write(`${engine}: ${Math.round(ROWS / seconds)} rows/s\n`)
    const half = new Date(NOW + ROWS / 2).toISOString()
    let pruned = 0
    for (let count = 0; count !== 0 || pruned === 0; pruned += count)
      count = await store.commands.pruneAudit({ before: half })
    expect(await store.audit.verify()).toMatchObject({ rows: ROWS - pruned })
    expect(pruned).toBeGreaterThan(ROWS / 3)
    await store.close()
    if (isPostgres) expect((await rowsScanned(place)) - before).toBeLessThan(ROWS)
    await place.remove()
  },
  600_000,
)
