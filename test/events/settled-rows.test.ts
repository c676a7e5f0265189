/** Settling finds rows by their ids, whatever PostgreSQL knew of the table when it planned the statements. */
import { expect, test } from 'bun:test'
import { createStorePlace, engines, executeIn } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'
import { addBroadcaster, addClient, newSubscription, subscribe } from './subscriptions.ts'

const WAITING = 5000
const SETTLED = 500
/** More than once for each, for statements that read a row by several indexes. */
const MOST_READ = 4 * SETTLED

/** Rows of deliveries, pending or not. */
const addRows = (prefix: string, due_at: string) =>
  `insert into event_deliveries
     (id, message, kind, subscription_id, target, status, attempts, due_at, created_at)
   select '${prefix}' || n, '${prefix}' || n, 'notification', 'healthy', 'webhook:healthy.example', 'pending', 1, ${due_at},
     '2026-11-01T00:00:00.000Z'
   from generate_series(1, ${WAITING}) as n`

test.skipIf(!engines.includes('postgres')).each(['delivered', 'retry', 'failed'] as const)(
  'messages that are settled as %s cost as much as they are, though the table was analyzed while none was pending',
  async outcome => {
    const place = await createStorePlace('postgres')
    const first = await openStore(place, 2)
    await addClient(first)
    await addBroadcaster(first)
    await subscribe(first, newSubscription('https://healthy.example/', { id: 'healthy' }))
    await first.close()
    await executeIn(place, 'alter table event_deliveries set (autovacuum_enabled = off)')
    await executeIn(place, 'delete from event_deliveries')
    await executeIn(place, addRows('finished', 'null'))
    await executeIn(place, 'analyze event_deliveries')
    await executeIn(place, addRows('pending', '1'))
    const rowsRead = async () => {
      const [row] = await executeIn(
        place,
        `select coalesce(sum(idx_tup_read), 0) + (select seq_tup_read from pg_stat_user_tables where relname = 'event_deliveries') as n
         from pg_stat_user_indexes where relname = 'event_deliveries'`,
      )
      return Number((row as { n: string }).n)
    }
    const before = await rowsRead()
    const store = await openStore(place, 2)
    const ids = Array.from({ length: SETTLED }, (_, n) => `pending${n + 1}`)
    await store.commands.settleDeliveries({
      outcomes: ids
        .map(id => ({ ids: [id], outcome, milliseconds: 1 }))
        .slice(0, outcome === 'delivered' ? undefined : 4),
    })
    await store.close()
    const read = (await rowsRead()) - before
    const settled = outcome === 'retry' ? 'due_at > 1' : 'due_at is null'
    const [{ n }] = (await executeIn(
      place,
      `select count(*) as n from event_deliveries where id like 'pending%' and ${settled}`,
    )) as [{ n: string }]
    expect(Number(n)).toBe(outcome === 'delivered' ? SETTLED : 4)
    expect(read).toBeLessThan(MOST_READ)
    expect(read).toBeGreaterThan(0)
    await place.remove()
  },
)
