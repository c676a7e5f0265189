/** A store of the schema before `017-compact-rows`, with entitlements, their history and markers, is upgraded. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chained } from '../../src/domain/audit.ts'
import { migrations } from '../../src/store/engines/migrations/index.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { migrateTo } from '../support/migrate-to.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'

const [REEF, NORTH] = ['5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1', '0a0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a2']
const [LANTERN, KEY] = ['74c52265-e214-48a6-91b9-23b6014e8041', '14c52265-e214-48a6-91b9-23b6014e8042']
const BEFORE = migrations.slice(0, 16)

/** Times from the first to the last that a request can name. */
const OLD = [
  ['fb78259e-fb81-4d1b-8333-34a06ffc24c0', REEF, LANTERN, '2026-03-01T12:00:00.250Z', 'FULFILLED'],
  ['0b78259e-fb81-4d1b-8333-34a06ffc24c1', REEF, LANTERN, '2026-03-01T12:00:00.250Z', 'CLAIMED'],
  ['1b78259e-fb81-4d1b-8333-34a06ffc24c2', NORTH, KEY, '0000-01-01T00:00:00.001Z', 'CLAIMED'],
  ['2b78259e-fb81-4d1b-8333-34a06ffc24c3', NORTH, KEY, '1969-12-31T23:59:59.999Z', 'FULFILLED'],
  ['3b78259e-fb81-4d1b-8333-34a06ffc24c4', NORTH, KEY, '9999-12-31T23:59:59.999Z', 'CLAIMED'],
] as const
const CHANGED_AT = '2026-03-02T08:30:00.007Z'

const lastUpdated = (index: number, timestamp: string) => (index === 0 ? CHANGED_AT : timestamp)

const HISTORY = chained(
  { actor: 'client/c', operation: 'UpdateDropsEntitlements', chain: REEF, at: CHANGED_AT },
  [{ subject: `entitlement/${OLD[0][0]}`, place: OLD[0][3], before: 'CLAIMED', after: 'FULFILLED' }],
  { seq: 0, hash: '' },
)

const quoted = (values: readonly (string | number)[]) =>
  values.map(value => (typeof value === 'number' ? value : `'${value}'`)).join(', ')

const OLD_ROWS = [
  `insert into users (id, login, display_name, created_at) values ('11', 'lunar_otter', 'Lunar_Otter', '2026-01-01T10:00:00.750Z')`,
  `insert into organizations (id, name) values ('${REEF}', 'Reef'), ('${NORTH}', 'North'), ('unused', 'Without grants')`,
  `insert into games (id, name) values ('7', 'Hollow Orchard')`,
  `insert into benefits (id, name, organization_id) values ('${LANTERN}', 'Lantern', '${REEF}'), ('${KEY}', 'Key', '${NORTH}')`,
  `insert into videos (id, user_id, created_at, ended_at) values ('101', '11', '2026-03-02T10:00:00Z', '2026-03-02T12:00:00Z')`,
  `insert into markers (id, video_id, position_seconds, description, created_at) values
     ('m2', '101', 7, 'the jump', '2026-03-02T10:00:07Z'), ('m1', '101', 7, 'it''s', '2026-03-02T10:00:07Z'),
     ('m3', '101', 3, '', '2026-03-02T10:00:03Z')`,
  ...OLD.map(
    ([id, organization, benefit, timestamp, status], index) =>
      `insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
       values (${quoted([id, organization, benefit, '11', '7', timestamp, status, lastUpdated(index, timestamp)])})`,
  ),
  ...HISTORY.map(
    ({ chain, seq, at, actor, operation, subject, place, before, after, previous, hash }) =>
      `insert into audit (chain, seq, at, actor, operation, subject, place, before, after, previous, hash)
       values (${quoted([chain, seq, at, actor, operation, subject, place, before, after, previous, hash])})`,
  ),
  ...HISTORY.map(
    ({ chain, seq, hash }) =>
      `insert into audit_heads (chain, seq, hash) values (${quoted([chain, seq, hash])})`,
  ),
]

for (const engine of engines) {
  describe(`an upgrade of rows on ${engine}`, () => {
    let place: StorePlace
    let store: Store
    beforeAll(async () => {
      place = await createStorePlace(engine, { empty: true })
      await migrateTo(place, BEFORE)
      for (const statement of OLD_ROWS) await executeIn(place, statement)
      const { databaseUrl, folder } = place
      store = createStore(
        databaseUrl === undefined
          ? await openSqliteEngine(`${folder}/strand.db`)
          : await openPostgresEngine(databaseUrl, { connections: 4, pooled: false }),
      )
    })
    afterAll(async () => {
      await store.close()
      await place.remove()
    })

    test('every entitlement is what it was, to the millisecond', async () => {
      const found = await store.entitlements.named(OLD.map(([id]) => id))
      const expected = OLD.map(([id, organization_id, benefit_id, timestamp, fulfillment_status], index) => ({
        id,
        organization_id,
        benefit_id,
        timestamp,
        user_id: '11',
        game_id: '7',
        fulfillment_status,
        last_updated: lastUpdated(index, timestamp),
        updated_at: lastUpdated(index, timestamp),
      }))
      const inOrder = <T extends { id: string }>(rows: readonly T[]) =>
        [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
      expect(inOrder(found)).toEqual(inOrder(expected))
    })

    test('lists have the order they had', async () => {
      const page = await store.entitlements.page({}, { first: 10, direction: 'forward' })
      expect(page.rows.map(row => row.id)).toEqual([4, 0, 1, 3, 2].map(index => OLD[index]?.[0] ?? ''))
      const ofReef = await store.entitlements.page(
        { organization_id: REEF },
        { first: 1, direction: 'forward', from: [OLD[0][3], OLD[0][0]] },
      )
      expect(ofReef).toMatchObject({ rows: [{ id: OLD[1][0] }], more: false })
    })

    test('the history continues, and the log is whole', async () => {
      const author = { actor: 'client/c', operation: 'UpdateDropsEntitlements', chain: REEF, at: CHANGED_AT }
      const ids = [OLD[0][0], OLD[1][0]]
      const change = {
        ids,
        reach: { organization_id: REEF },
        failing: [],
        now: Date.parse(CHANGED_AT) + 1000,
      }
      const { commands } = store.as(author)
      await commands.updateEntitlements({ ...change, fulfillment_status: 'CLAIMED' })
      await commands.updateEntitlements({ ...change, fulfillment_status: 'FULFILLED' })
      const [id, , , timestamp] = OLD[0]
      const { rows } = await store.audit.changesOf({ id, timestamp }, { first: 10, direction: 'forward' })
      expect(rows.map(row => [row.seq, row.at])).toEqual([
        [1, CHANGED_AT],
        [2, '2026-03-02T08:30:01.007Z'],
        [3, '2026-03-02T08:30:01.008Z'],
      ])
      expect(await store.audit.verify()).toMatchObject({ rows: 3 })
    })

    test('a chain that a node of the version before began during the upgrade gets a number', async () => {
      await executeIn(place, `update audit_heads set number = null where chain = '${REEF}'`)
      const author = { actor: 'client/c', operation: 'UpdateDropsEntitlements', chain: REEF, at: CHANGED_AT }
      await store.as(author).commands.updateEntitlements({
        ids: [OLD[0][0], OLD[1][0]],
        reach: { organization_id: REEF },
        failing: [],
        now: Date.parse(CHANGED_AT) + 2000,
        fulfillment_status: 'CLAIMED',
      })
      const [head] = await executeIn(place, `select number from audit_heads where chain = '${REEF}'`)
      expect(head.number).toBeGreaterThan(0)
    })

    test('organizations and benefits with entitlements are not deleted', async () => {
      expect(await store.commands.deleteBenefit({ id: KEY })).toMatchObject({ problem: 'in_use' })
      expect(await store.commands.deleteOrganization({ id: 'unused' })).toBeUndefined()
    })

    test('markers have the order they had, and are found by id', async () => {
      const page = await store.markers.ofVideo('101', { first: 10, direction: 'forward' })
      expect(page.rows.map(row => [row.id, row.position_seconds, row.description])).toEqual([
        ['m3', 3, ''],
        ['m1', 7, "it's"],
        ['m2', 7, 'the jump'],
      ])
      await store.commands.renameMarker({ id: 'm2', broadcaster_id: '11', description: 'the fall' })
      const [, , renamed] = (await store.markers.ofVideo('101', { first: 10, direction: 'forward' })).rows
      expect(renamed).toMatchObject({ id: 'm2', description: 'the fall' })
    })
  })
}
