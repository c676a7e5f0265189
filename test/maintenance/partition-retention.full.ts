/** Retention on a store with partitions: what has expired goes with its partition, and what must be kept stays. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { Author } from '../../src/domain/audit.ts'
import { isoMillis } from '../../src/kit/clock.ts'
import { sweepExpired } from '../../src/maintenance/sweep-expired.ts'
import type { NewEventSubscription } from '../../src/store/commands/event-subscriptions.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { timedOf } from '../../src/store/partition-layout.ts'
import { partitionStore } from '../../src/store/partition-store.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { anyStreamKey } from '../support/stores.ts'

const DAY = 24 * 3600 * 1000
const TARGET = 'webhook:example.org'
const KEEP = { videosDays: 0, tokensDays: 0, eventsDays: 30, auditDays: 30 }

describe.skipIf(!engines.includes('postgres'))('retention', () => {
  let store: Store
  let place: StorePlace
  afterEach(async () => {
    await store.close()
    await place.remove()
  })
  /** A store that got its partitions at this time. */
  const open = async (now: number) => {
    place = await createStorePlace('postgres', { empty: true })
    const url = place.databaseUrl ?? ''
    store = createStore(await openPostgresEngine(url, { connections: 3, pooled: false }))
    await partitionStore(url, { count: 2, now, pooled: false })
  }
  const sweepAt = (now: number) =>
    sweepExpired(store, { now, settled: now }, KEEP, { removed: () => undefined, wantsToStop: () => false })
  const execute = (statement: string) => executeIn(place, statement)
  const count = async (table: string) => (await execute(`select count(*)::int as n from ${table}`))[0].n
  const partitionsOf = async (table: string) =>
    timedOf(await store.partitions.stored(), table).map(each => each.name)
  const isIntact = async () => expect(await store.audit.verify()).not.toHaveProperty('flaw')

  const author = (at: string, changes: Partial<Author> = {}): Author => ({
    actor: 'operator',
    operation: 'PutGame',
    chain: 'operator',
    at: `${at}T12:00:00.000Z`,
    ...changes,
  })
  const rename = (at: string, chain = 'operator') =>
    store.as(author(at, { chain })).commands.putGame({ id: '7', name: `Renamed ${at} ${Math.random()}` })

  test('drops months of the audit log, and the chains and histories that are left are intact', async () => {
    await open(Date.parse('2026-01-10T00:00:00Z'))
    expect(await partitionsOf('audit')).toEqual([
      'audit_first',
      'audit_2026_03',
      'audit_2026_04',
      'audit_2026_05',
      'audit_2026_06',
    ])
    await store.commands.putOrganization({ id: 'o', name: 'Reef' })
    await store.commands.putGame({ id: '7', name: 'Tidefall', organization_id: 'o' })
    await store.commands.putBenefit({ id: 'b', name: 'Lantern', organization_id: 'o' })
    await store.commands.putUser({ id: '1', login: 'u', stream_key: anyStreamKey('u'), now: Date.now() })
    const ids = [crypto.randomUUID(), crypto.randomUUID()]
    const granted = {
      user_id: '1',
      benefit_id: 'b',
      game_id: '7',
      timestamp: isoMillis(0),
      timestampGiven: true,
    }
    await store.commands.grantEntitlements({ grants: ids.map(id => ({ id, ...granted })) })
    for (const at of ['2026-01-05', '2026-02-10', '2026-03-10', '2026-04-02', '2026-05-04']) {
      await rename(at)
      await store.as(author(at, { chain: 'o' })).commands.updateEntitlements({
        ids,
        fulfillment_status: Number(at.slice(5, 7)) % 2 === 0 ? 'CLAIMED' : 'FULFILLED',
        reach: { organization_id: 'o' },
        failing: [],
        now: Date.parse(`${at}T12:00:00.000Z`),
      })
    }
    await isIntact()
    expect([await count('audit'), await count('audit_entitlements')]).toEqual([10, 10])
    const { heads } = (await store.audit.verify()) as Extract<
      Awaited<ReturnType<Store['audit']['verify']>>,
      { heads: unknown }
    >

    // The first partition is also swept row by row: it has everything from before.
    await sweepAt(Date.parse('2026-02-20T00:00:00Z'))
    expect(await count('audit_first')).toBe(2)
    expect(await count('audit')).toBe(8)
    // Until 10 April all is to be deleted: March goes as a whole, and April stays as a whole.
    await sweepAt(Date.parse('2026-05-10T00:00:00Z'))
    expect(await partitionsOf('audit')).toEqual([
      'audit_2026_04',
      'audit_2026_05',
      'audit_2026_06',
      'audit_2026_07',
      'audit_2026_08',
    ])
    expect((await partitionsOf('audit_entitlements')).length).toBe(5)
    expect([await count('audit'), await count('audit_entitlements')]).toEqual([4, 4])
    await isIntact()
    expect(await store.audit.verify(() => undefined, heads)).not.toHaveProperty('flaw')
    const history = await store.audit.changesOf(
      { id: ids[0] ?? '', timestamp: isoMillis(0) },
      { first: 10, direction: 'forward' },
    )
    expect(history.rows.map(row => row.at.slice(0, 10))).toEqual(['2026-04-02', '2026-05-04'])
    // The next rows continue the chains.
    await rename('2026-05-11')
    await isIntact()
  })

  test('keeps a month of the audit log while a chain has older rows in a later one', async () => {
    await open(Date.parse('2026-01-10T00:00:00Z'))
    // The clock was set back after the first row.
    await rename('2026-04-02', 'late')
    await rename('2026-03-10', 'late')
    await rename('2026-03-10', 'other')
    await sweepAt(Date.parse('2026-05-10T00:00:00Z'))
    expect(await partitionsOf('audit')).toContain('audit_2026_03')
    await isIntact()
    // Rows that no other is in the way of are deleted one by one meanwhile.
    expect(await count('audit')).toBe(2)
    await sweepAt(Date.parse('2026-06-10T00:00:00Z'))
    await sweepAt(Date.parse('2026-06-10T00:00:00Z'))
    expect((await partitionsOf('audit'))[0]).toBe('audit_2026_05')
    expect(await count('audit')).toBe(0)
    await isIntact()
  })

  test('a row without a partition is written to the default one, and a busy table is left for the next sweep', async () => {
    await open(Date.parse('2026-01-10T00:00:00Z'))
    await rename('2026-09-10')
    expect(await count('audit_default')).toBe(1)
    await sweepAt(Date.parse('2026-08-10T00:00:00Z'))
    // September has a row already, and gets no partition; the months around it do.
    expect((await partitionsOf('audit')).slice(-3)).toEqual([
      'audit_2026_08',
      'audit_2026_10',
      'audit_2026_11',
    ])
    await sweepAt(Date.parse('2026-10-20T00:00:00Z'))
    expect(await count('audit')).toBe(0)
    await isIntact()
    await rename('2026-10-20')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const url = place.databaseUrl ?? ''
    const reader = new Bun.SQL(url, { max: 1 })
    const held = Promise.withResolvers<void>()
    const reading = reader.begin(async tx => {
      await tx.unsafe('select 1 from audit limit 1')
      held.resolve()
      await released
    })
    await held.promise
    const before = await partitionsOf('audit')
    await sweepAt(Date.parse('2027-06-10T00:00:00Z'))
    expect((await partitionsOf('audit')).slice(0, before.length)).toEqual(before)
    release()
    await reading
    await reader.close()
    await sweepAt(Date.parse('2027-06-10T00:00:00Z'))
    expect((await partitionsOf('audit'))[0]).toBe('audit_2027_06')
  })

  const subscription: NewEventSubscription = {
    id: '00000000-0000-4000-8000-000000000001',
    client_id: 'app',
    owner: '',
    scopes: [],
    type: 'stream.online',
    version: '1',
    condition: { broadcaster_user_id: '1' },
    topic: 'stream.online/1/1',
    method: 'webhook',
    callback: 'https://example.org/1',
    session_id: null,
    target: TARGET,
    lane: null,
    identity: 'identity',
    key_id: 'test',
    sealed: 'sealed',
  }
  const settle = async () => {
    const most = { notifications: 1000, verifications: 1000 }
    const room = { free: most, freeForFailing: most, taken: {}, held: {}, slow: [], quick: [] }
    const { claimed } = await store.commands.claimWebhooks({ room, claim: 'c', forMilliseconds: 30_000 })
    await store.commands.settleDeliveries({
      outcomes: claimed.map(({ id, kind, subscription_id }) => ({
        ids: [id],
        outcome: 'delivered',
        milliseconds: 1,
        ...(kind === 'webhook_callback_verification' && {
          subscription: { id: subscription_id, status: 'enabled', revokes: false },
        }),
      })),
    })
    return claimed.length
  }
  const goLive = async (n: number) => {
    const started = { user_id: '1', stream_id: `1${n}`, video_id: `2${n}`, started_at: isoMillis(Date.now()) }
    await store.commands.startStream(started)
    await store.commands.endStream({ user_id: '1', now: Date.now() })
  }

  test('drops weeks of events, but not what is still to be sent, nor the verification of a subscription', async () => {
    await open(Date.now() - 60 * DAY)
    await sweepAt(Date.now())
    const client = { name: 'Shop', organization_id: null, owner_user_id: null, implicit_grant: false }
    await store.commands.createClient({
      client: { ...client, id: 'app', kind: 'public', redirect_uris: [] },
      secret_hash: null,
    })
    await store.commands.putUser({ id: '1', login: 'u', stream_key: anyStreamKey('u'), now: Date.now() })
    await store.commands.createEventSubscription({ subscription, now: Date.now() })
    expect(await settle()).toBe(1)
    await goLive(1)
    expect(await settle()).toBe(1)
    await goLive(2)
    const [{ week }] = await execute('select tableoid::regclass::text as week from events limit 1')
    expect(await partitionsOf('events')).toContain(week)
    const sizes = async () => [await count('events'), await count('event_deliveries')]
    expect(await sizes()).toEqual([2, 3])
    // Its week has not ended 30 days ago, so all of it is kept.
    await sweepAt(Date.now() + 30 * DAY)
    expect(await sizes()).toEqual([2, 3])
    // A message is still to be sent: the week stays, without what was sent.
    await sweepAt(Date.now() + 38 * DAY)
    expect(await sizes()).toEqual([1, 2])
    expect(await partitionsOf('events')).toContain(week)
    expect(await settle()).toBe(1)
    await sweepAt(Date.now() + 38 * DAY)
    expect(await partitionsOf('events')).not.toContain(week)
    expect(await sizes()).toEqual([0, 1])
    expect(await count('event_deliveries_default')).toBe(1)
    // It goes with its subscription, as before, and numbers go on.
    await goLive(3)
    const [{ seq }] = await execute('select max(seq)::int as seq from events')
    expect(seq).toBe(3)
    await store.commands.deleteClient({ id: 'app' })
    expect(await count('event_deliveries')).toBe(0)
  })
})
