/**
 * `bun bench/measures/lists.ts [--entitlements 400000] [--writes]`: how long each combination of filters on entitlements occupies the main
 * thread on the embedded store, what an entitlement takes on disk, and what granting and fulfilling cost. Each combination
 * is asked for values that match much, little and nothing; the slowest of them is shown. `--writes` leaves the lists out.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Engine } from '../../src/store/engine.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { type EntitlementFilter, entitlementQueries } from '../../src/store/queries/entitlements.ts'
import { createStore } from '../../src/store/store.ts'

const { values: options } = parseArgs({
  options: {
    entitlements: { type: 'string', default: '400000' },
    writes: { type: 'boolean', default: false },
  },
})
const COUNT = Number(options.entitlements)
const ROUNDS = 5
const ORGANIZATIONS = 20
const USERS = 50_000
const PAGE = { first: 20, direction: 'forward' as const }

const folder = mkdtempSync(join(tmpdir(), 'strand-lists-'))
const file = join(folder, 'strand.db')
const engine = await openSqliteEngine(file)
try {
  fill(file)
  reportBytes(file)
  if (!options.writes) await reportLists(engine)
  await reportWrites(engine)
} finally {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Half of everything belongs to one organization and one game; one in a thousand waits to be fulfilled. */
function fill(path: string): void {
  const db = new Sqlite(path)
  const numbers = (count: number) =>
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`
  const uuid = (n: string, kind: string) =>
    `printf('%08x-%04x-4000-8000-%012x', ((${n}) * 2654435761) % 4294967296, ${kind}, ${n})`
  // A third of the entitlements of the first organization are in a game that belongs to no organization.
  db.run(`
    begin;
    insert into organizations select ${uuid('n', '1')}, 'Organization ' || n from (${numbers(ORGANIZATIONS)} select n from numbers);
    insert into games select 1000 + n, 'Game ' || n, case when n > ${ORGANIZATIONS} then null else ${uuid('n', '1')} end
      from (${numbers(ORGANIZATIONS + 1)} select n from numbers);
    insert into benefits select ${uuid('n', '2')}, 'Benefit ' || n, ${uuid(`1 + n % ${ORGANIZATIONS}`, '1')}, null
      from (${numbers(ORGANIZATIONS * 10)} select n from numbers);
    insert into users select 100000000 + n, 'user' || n, 'user' || n, null, '2026-01-01T00:00:00.000Z'
      from (${numbers(USERS)} select n from numbers);
    insert into entitlement_organizations select row_number() over (order by id), id from organizations;
    insert into entitlement_benefits select row_number() over (order by id), id from benefits;
    insert into organization_entitlements (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
      select o.number, 1767225600250 + n * 13000, unhex(replace(${uuid('n', '3')}, '-', '')), 1767225600250 + n * 13000,
        b.number, n % 1000 <> 0, 100000000 + 1 + (n * 7919) % ${USERS},
        1001 + case when n % 3 = 0 then ${ORGANIZATIONS} else chosen.o end
      from (${numbers(COUNT)} select n, case when n % 2 = 0 then 0 else (n / 2) % ${ORGANIZATIONS} end as o from numbers) chosen
        join entitlement_organizations o on o.organization_id = ${uuid('1 + chosen.o', '1')}
        join entitlement_benefits b on b.benefit_id = ${uuid(`${ORGANIZATIONS} * (1 + n % 9) + chosen.o`, '2')};
    commit`)
  db.run('pragma wal_checkpoint(truncate)')
  db.close()
}

function reportBytes(path: string): void {
  const db = new Sqlite(path)
  const indexes = db
    .query("select name, sql from sqlite_schema where type = 'index' and tbl_name = 'entitlements'")
    .all() as { name: string }[]
  console.log(`${COUNT} entitlements, ${indexes.length} indexes`)
  console.log(`file: ${(statSync(path).size / COUNT).toFixed(0)} bytes an entitlement`)
  db.close()
}

async function reportLists({ db }: Engine): Promise<void> {
  const { page } = entitlementQueries(db)
  const values = {
    organization_id: ['00000000-0000-4000-8000-000000000000', ...idsOf('organizations', 1, ORGANIZATIONS)],
    user_id: ['100000001', '100040000', '1'],
    game_id: ['1001', '1010', String(1001 + ORGANIZATIONS), '1'],
    benefit_id: ['00000000-0000-4000-8000-000000000000', ...idsOf('benefits', 20, 27, 199)],
    fulfillment_status: ['CLAIMED', 'FULFILLED'],
  }
  const names = Object.keys(values) as (keyof typeof values)[]
  for (let chosen = 0; chosen < 1 << names.length; chosen++) {
    const filters = names
      .filter((_, index) => (chosen >> index) % 2 === 1)
      .reduce<EntitlementFilter[]>(
        (all, name) => all.flatMap(filter => values[name].map(value => ({ ...filter, [name]: value }))),
        [{}],
      )
    let worst = 0
    let total = 0
    for (const filter of filters) {
      const least = { blocked: Number.POSITIVE_INFINITY, whole: Number.POSITIVE_INFINITY }
      for (let round = 0; round < ROUNDS; round++) {
        const { blocked, whole } = await measure(() => page(filter, PAGE))
        least.blocked = Math.min(least.blocked, blocked)
        least.whole = Math.min(least.whole, whole)
        if (whole > 100 && round > 0) break
      }
      worst = Math.max(worst, least.blocked)
      total = Math.max(total, least.whole)
    }
    const label = names.filter((_, index) => (chosen >> index) % 2 === 1).join(' + ') || 'no filter'
    console.log(`${label.padEnd(75)} blocked ${worst.toFixed(2)} ms, whole ${total.toFixed(2)} ms`)
  }

  function idsOf(table: string, ...places: number[]): string[] {
    const connection = new Sqlite(file, { readonly: true })
    const rows = connection.query(`select id from ${table} order by rowid`).all() as { id: string }[]
    connection.close()
    return places.map(place => rows[place - 1]?.id ?? '')
  }
}

/** The longest time that nothing else could run, and the time until the answer. */
async function measure(work: () => unknown): Promise<{ blocked: number; whole: number }> {
  const began = performance.now()
  let last = began
  let blocked = 0
  const beat = () => {
    const now = performance.now()
    blocked = Math.max(blocked, now - last)
    last = now
  }
  const beats = setInterval(beat, 0)
  await work()
  beat()
  clearInterval(beats)
  return { blocked, whole: performance.now() - began }
}

async function reportWrites(using: Engine): Promise<void> {
  const store = createStore(using)
  const benefit = (await store.benefits.page({}, PAGE)).rows[0]
  if (benefit === undefined) throw new Error('the store is empty')
  const game_id = String(1001 + ORGANIZATIONS)
  const grants = Array.from({ length: 20_000 }, (_, n) => ({
    id: crypto.randomUUID(),
    user_id: String(100_000_001 + (n % USERS)),
    benefit_id: benefit.id,
    game_id,
    timestamp: new Date(Date.UTC(2026, 6, 1) + n * 10).toISOString(),
    timestampGiven: true,
  }))
  const batches = <T>(all: readonly T[], size: number) =>
    Array.from({ length: all.length / size }, (_, n) => all.slice(n * size, (n + 1) * size))
  await reportCost('grant, 1000 at once', grants.length, async () => {
    for (const batch of batches(grants, 1000)) await store.commands.grantEntitlements({ grants: batch })
  })
  for (const fulfillment_status of ['FULFILLED', 'CLAIMED'] as const) {
    await reportCost(`update to ${fulfillment_status}, 100 at once`, grants.length, async () => {
      for (const batch of batches(grants, 100)) {
        await store.commands.updateEntitlements({
          ids: batch.map(grant => grant.id),
          fulfillment_status,
          reach: { organization_id: benefit.organization_id },
          failing: [],
          now: Date.now(),
        })
      }
    })
  }
}

async function reportCost(label: string, count: number, work: () => Promise<void>): Promise<void> {
  const began = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  const rate = Math.round((count * 1000) / (performance.now() - began))
  console.log(`${label}: ${((user + system) / count).toFixed(1)} us of processor each, ${rate}/s`)
}
