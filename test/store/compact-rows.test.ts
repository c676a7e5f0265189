/** Entitlements have short rows: what is stored in them is returned as it was given, from the first time to the last. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Store } from '../../src/store/store.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'

const [REEF, NORTH] = ['5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1', '0a0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a2']
const [LANTERN, KEY] = ['74c52265-e214-48a6-91b9-23b6014e8041', '14c52265-e214-48a6-91b9-23b6014e8042']

/** Times from the first to the last that a request can name. */
const GRANTED = [
  ['fb78259e-fb81-4d1b-8333-34a06ffc24c0', REEF, LANTERN, '2026-03-01T12:00:00.250Z'],
  ['0b78259e-fb81-4d1b-8333-34a06ffc24c1', REEF, LANTERN, '2026-03-01T12:00:00.250Z'],
  ['1b78259e-fb81-4d1b-8333-34a06ffc24c2', NORTH, KEY, '0000-01-01T00:00:00.001Z'],
  ['2b78259e-fb81-4d1b-8333-34a06ffc24c3', NORTH, KEY, '1969-12-31T23:59:59.999Z'],
  ['3b78259e-fb81-4d1b-8333-34a06ffc24c4', NORTH, KEY, '9999-12-31T23:59:59.999Z'],
] as const
const CHANGED_AT = '2026-03-02T08:30:00.007Z'
const AUTHOR = { actor: 'client/c', operation: 'UpdateDropsEntitlements', chain: REEF, at: CHANGED_AT }

for (const engine of engines) {
  describe(`entitlements on ${engine}`, () => {
    let place: StorePlace
    let store: Store
    beforeAll(async () => {
      place = await createStorePlace(engine)
      store = await openStore(place, 4)
      const { commands } = store
      for (const [id, name] of [
        [REEF, 'Reef'],
        [NORTH, 'North'],
        ['unused', 'Without grants'],
      ] as const)
        await commands.putOrganization({ id, name })
      await commands.putGame({ id: '7', name: 'Hollow Orchard' })
      await commands.putBenefit({ id: LANTERN, name: 'Lantern', organization_id: REEF })
      await commands.putBenefit({ id: KEY, name: 'Key', organization_id: NORTH })
      const stream_key = { key_id: 'k', sealed: '', lookup_hash: '1' }
      await commands.putUser({ id: '11', login: 'lunar_otter', stream_key, now: 0 })
      await commands.grantEntitlements({
        grants: GRANTED.map(([id, , benefit_id, timestamp]) => {
          return { id, user_id: '11', benefit_id, game_id: '7', timestamp, timestampGiven: true }
        }),
      })
    })
    afterAll(async () => {
      await store.close()
      await place.remove()
    })

    test('every entitlement is what was granted, to the millisecond', async () => {
      const found = await store.entitlements.named(GRANTED.map(([id]) => id))
      const expected = GRANTED.map(([id, organization_id, benefit_id, timestamp]) => ({
        id,
        organization_id,
        benefit_id,
        timestamp,
        user_id: '11',
        game_id: '7',
        fulfillment_status: 'CLAIMED' as const,
        last_updated: timestamp,
        updated_at: timestamp,
      }))
      const inOrder = <T extends { id: string }>(rows: readonly T[]) =>
        [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
      expect(inOrder(found)).toEqual(inOrder(expected))
    })

    test('lists are in order of time, then of id', async () => {
      const page = await store.entitlements.page({}, { first: 10, direction: 'forward' })
      expect(page.rows.map(row => row.id)).toEqual([4, 0, 1, 3, 2].map(index => GRANTED[index]?.[0] ?? ''))
      const ofReef = await store.entitlements.page(
        { organization_id: REEF },
        { first: 1, direction: 'forward', from: [GRANTED[0][3], GRANTED[0][0]] },
      )
      expect(ofReef).toMatchObject({ rows: [{ id: GRANTED[1][0] }], more: false })
    })

    test('the history has changes of several at once, and the log is whole', async () => {
      const ids = [GRANTED[0][0], GRANTED[1][0]]
      const change = { ids, reach: { organization_id: REEF }, failing: [], now: Date.parse(CHANGED_AT) }
      const { commands } = store.as(AUTHOR)
      await commands.updateEntitlements({ ...change, fulfillment_status: 'FULFILLED' })
      await commands.updateEntitlements({ ...change, fulfillment_status: 'CLAIMED' })
      const [id, , , timestamp] = GRANTED[0]
      const { rows } = await store.audit.changesOf({ id, timestamp }, { first: 10, direction: 'forward' })
      expect(rows.map(row => [row.seq, row.at])).toEqual([
        [1, CHANGED_AT],
        [2, '2026-03-02T08:30:00.008Z'],
      ])
      expect(await store.audit.verify()).toMatchObject({ rows: 2 })
    })

    test('organizations and benefits with entitlements are not deleted', async () => {
      expect(await store.commands.deleteBenefit({ id: KEY })).toMatchObject({ problem: 'in_use' })
      expect(await store.commands.deleteOrganization({ id: 'unused' })).toBeUndefined()
    })
  })
}
