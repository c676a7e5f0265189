/**
 * `bun bench/measures/bytes.ts [--entitlements 100000] [--at-once 100]`: what an entitlement that was granted and fulfilled takes in the
 * store, by table and index, with its rows in the audit log. Grants and updates go through the commands of the server, so
 * many at once. With DATABASE_URL set, on PostgreSQL, after `vacuum` and again after `vacuum full`, which leaves no space of
 * earlier versions of rows; else on the embedded store.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'

const { values: options } = parseArgs({
  options: {
    entitlements: { type: 'string', default: '100000' },
    'at-once': { type: 'string', default: '100' },
  },
})
const [COUNT, AT_ONCE] = [Number(options.entitlements), Number(options['at-once'])]
const START = Date.parse('2026-01-01T00:00:00Z')
const USERS = 5000
const GAMES = 5

/** One organization with five games, whose entitlements are fulfilled a minute after they were granted. */
async function fill(store: Store): Promise<void> {
  const organization_id = crypto.randomUUID()
  const benefits = Array.from({ length: GAMES }, () => crypto.randomUUID())
  await store.commands.putOrganization({ id: organization_id, name: 'Reef' })
  for (const [index, id] of benefits.entries()) {
    await store.commands.putGame({ id: String(33_000 + index), name: 'Tidefall', organization_id })
    await store.commands.putBenefit({ id, name: 'Lantern', organization_id })
  }
  const stream_key = { key_id: 'k', sealed: '' }
  for (let n = 0; n < USERS; n++) {
    const id = String(140_000_000 + n)
    const key = { ...stream_key, lookup_hash: id }
    await store.commands.putUser({ id, login: `user_${n}`, stream_key: key, now: START })
  }
  for (let done = 0; done < COUNT; done += AT_ONCE) {
    const now = START + done * 500
    const grants = Array.from({ length: AT_ONCE }, (_, n) => ({
      id: crypto.randomUUID(),
      user_id: String(140_000_000 + Math.floor(Math.random() * USERS)),
      benefit_id: benefits[n % GAMES] ?? '',
      game_id: String(33_000 + (n % GAMES)),
      timestamp: new Date(now).toISOString(),
      timestampGiven: true,
    }))
    const granting = { actor: 'operator', operation: 'GrantEntitlements', chain: 'operator' }
    await store.as({ ...granting, at: new Date(now).toISOString() }).commands.grantEntitlements({ grants })
    const later = now + 60_000
    const author = {
      actor: 'client/benchbenchbenchbenchbenchbench',
      operation: 'UpdateDropsEntitlements',
      chain: organization_id,
      at: new Date(later).toISOString(),
    }
    await store.as(author).commands.updateEntitlements({
      ids: grants.map(grant => grant.id),
      fulfillment_status: 'FULFILLED',
      reach: { organization_id },
      failing: [],
      now: later,
    })
  }
}

interface Part {
  readonly name: string
  readonly bytes: number | string
}

function report(engine: string, parts: readonly Part[]): void {
  const each = (bytes: number) => Math.round(bytes / COUNT)
  for (const { name, bytes } of parts)
    if (each(Number(bytes)) > 0) console.log(`${String(each(Number(bytes))).padStart(6)} ${name}`)
  const total = parts.reduce((sum, part) => sum + Number(part.bytes), 0)
  console.log(
    `${String(each(total)).padStart(6)} bytes each on ${engine}: ${COUNT} entitlements, ${AT_ONCE} at once`,
  )
}

const databaseUrl = process.env.DATABASE_URL
if (databaseUrl === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'strand-bytes-'))
  const store = createStore(await openSqliteEngine(join(folder, 'strand.db')))
  await fill(store)
  await store.close()
  using db = new Sqlite(join(folder, 'strand.db'), { readonly: true })
  report(
    'the embedded store',
    db
      .query(
        `select name, sum(pgsize) as bytes from dbstat
         where name like '%entitlement%' or name like '%audit%' group by name order by bytes desc`,
      )
      .all() as Part[],
  )
  rmSync(folder, { recursive: true })
} else {
  const store = createStore(await openPostgresEngine(databaseUrl, { connections: 2, pooled: false }))
  await fill(store)
  await store.close()
  const client = new SQL(databaseUrl, { max: 1 })
  for (const vacuum of ['vacuum', 'vacuum full']) {
    await client.unsafe(vacuum)
    report(
      `PostgreSQL after ${vacuum}`,
      await client.unsafe(
        `select relname as name, case when relkind = 'r' then pg_table_size(oid) else pg_relation_size(oid) end as bytes
         from pg_class where relkind in ('r', 'i') and relnamespace = current_schema()::regnamespace
           and (relname like '%entitlement%' or relname like '%audit%') order by bytes desc`,
      ),
    )
  }
  await client.close()
}
