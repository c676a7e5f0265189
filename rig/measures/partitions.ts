/**
 * `DATABASE_URL=... bun rig/measures/partitions.ts [--rows 200000] [--count 8]`: a page of 20 entitlements and an audited
 * update of 100 ids on PostgreSQL, with one table and, after `strand partition`, with so many partitions, and how long that
 * took. The database must be empty.
 */
import { parseArgs } from 'node:util'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { partitionStore } from '../../src/store/partition-store.ts'
import { createStore } from '../../src/store/store.ts'

const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '200000' }, count: { type: 'string', default: '8' } },
})
const [ROWS, COUNT] = [Number(options.rows), Number(options.count)]
const SECONDS = 5
const url = process.env.DATABASE_URL ?? ''
const store = createStore(await openPostgresEngine(url, { connections: 2, pooled: false }))
const client = new SQL(url, { max: 1 })
const organization_id = crypto.randomUUID()
await store.commands.putOrganization({ id: organization_id, name: 'Reef' })
await store.commands.putGame({ id: '7', name: 'Tidefall', organization_id })
await store.commands.putBenefit({ id: 'b', name: 'Lantern', organization_id })
await store.commands.putUser({
  id: '1',
  login: 'u',
  stream_key: { key_id: 'k', sealed: '', lookup_hash: '1' },
  now: 0,
})
const grant = {
  id: crypto.randomUUID(),
  user_id: '1',
  benefit_id: 'b',
  game_id: '7',
  timestamp: '2026-01-01T00:00:00.000Z',
}
await store.commands.grantEntitlements({ grants: [{ ...grant, timestampGiven: true }] })
await client.unsafe(`insert into organization_entitlements
  select organization, timestamp + n, gen_random_uuid(), last_updated, benefit, fulfilled, 'u' || n % 5000, game_id
  from organization_entitlements, generate_series(1, ${ROWS - 1}) n`)
const ids: string[] = (await client.unsafe('select id from organization_entitlements')).map(
  (row: { id: string }) => row.id,
)

/** The median of the times of some work that is done again and again for a few seconds. */
async function median(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return `${(times.sort((a, b) => a - b)[times.length >> 1] ?? 0).toFixed(2)} ms (${times.length} times)`
}

async function measure(layout: string): Promise<void> {
  await client.unsafe('vacuum analyze organization_entitlements')
  const page = () => store.entitlements.page({ organization_id }, { first: 20, direction: 'forward' })
  let turn = 0
  const update = () => {
    const now = Date.now()
    const author = {
      actor: 'client/c',
      operation: 'UpdateDropsEntitlements',
      chain: 'c',
      at: new Date(now).toISOString(),
    }
    const some = Array.from({ length: 100 }, () => ids[Math.floor(Math.random() * ids.length)] ?? '')
    const fulfillment_status = turn++ % 2 === 0 ? 'FULFILLED' : 'CLAIMED'
    return store.as(author).commands.updateEntitlements({
      ids: some,
      fulfillment_status,
      reach: { organization_id },
      failing: [],
      now,
    })
  }
  console.log(
    `${layout}: page of 20 ${await median(async () => page())}, update of 100 ids ${await median(update)}`,
  )
}

await measure('one table')
const began = performance.now()
await partitionStore(url, { count: COUNT, now: Date.now(), pooled: false })
console.log(`strand partition: ${((performance.now() - began) / 1000).toFixed(1)} s for ${ROWS} rows`)
await measure(`${COUNT} partitions`)
await client.close()
await store.close()
