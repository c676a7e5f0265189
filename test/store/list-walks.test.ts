/** Lists that are merged from ranges, or picked from others, show every row that matches exactly once and in order. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Key, Page, PageRequest } from '../../src/contract/page.ts'
import type { Engine } from '../../src/store/engine.ts'
import { decimalSortKey, idSortKey } from '../../src/store/keyset-order.ts'
import { auditSortKey } from '../../src/store/queries/audit-rows.ts'
import { type EntitlementRow, readStatus, readUuid } from '../../src/store/queries/entitlement-rows.ts'
import { entitlementSortKey } from '../../src/store/queries/entitlements.ts'
import { sql } from '../../src/store/sql/tag.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { entitlementId, openFilled } from '../support/store/many-rows.ts'

type Filter = Readonly<Record<string, string | undefined>>
type Row = Readonly<Record<string, unknown>>

/** Every combination of filters, each with a common and a rare value. */
function combinations(values: Readonly<Record<string, readonly string[]>>): Filter[] {
  let all: Filter[] = [{}]
  for (const [name, some] of Object.entries(values))
    all = all.concat(all.flatMap(filter => some.map(value => ({ ...filter, [name]: value }))))
  return all
}

async function walk<R>(
  page: (window: PageRequest) => Promise<Page<R>>,
  keyOf: (row: R) => Key,
  first: number,
): Promise<R[]> {
  const rows: R[] = []
  for (let from: Key | undefined; ; ) {
    const found = await page({ first, direction: 'forward', ...(from && { from }) })
    rows.push(...found.rows)
    const last = found.rows.at(-1)
    // A page with a next one is full: no caller gets a short page and a cursor (D-13).
    if (found.more) expect(found.rows.length).toBe(first)
    if (!found.more || last === undefined) return rows
    from = keyOf(last)
  }
}

const matches = (row: Row, filter: Filter) =>
  Object.entries(filter).every(([name, value]) => row[name] === value)

for (const engine of engines) {
  describe(`walks on ${engine}`, () => {
    let place: StorePlace
    let opened: Engine
    beforeAll(async () => {
      place = await createStorePlace(engine)
      opened = await openFilled(place, 40)
    })
    afterAll(async () => {
      await opened.close()
      await place.remove()
    })

    test('entitlements, by every combination of filters', async () => {
      const { entitlements } = createStore(opened)
      const stored = await opened.db.all<EntitlementRow>(
        sql`select * from organization_entitlements order by timestamp desc, id desc`,
      )
      const all = stored.map(row => ({
        id: readUuid(row.id),
        organization_id: `o${row.organization}`,
        user_id: row.user_id,
        game_id: row.game_id,
        benefit_id: `b${row.benefit}`,
        fulfillment_status: readStatus(row.fulfilled),
      }))
      const filters = combinations({
        organization_id: ['o2', 'o8'],
        user_id: ['1', '8'],
        game_id: ['10', '8'],
        benefit_id: ['b1', 'b7'],
        fulfillment_status: ['CLAIMED', 'FULFILLED'],
      })
      let found = 0
      for (const filter of filters) {
        const expected = all.filter(row => matches(row, filter)).map(row => row.id)
        const walked = await walk(window => entitlements.page(filter, window), entitlementSortKey, 7)
        expect(walked.map(row => row.id)).toEqual(expected)
        found += walked.length
      }
      expect(found).toBeGreaterThan(all.length)
    })

    test('the audit log, by every combination of filters', async () => {
      const { audit } = createStore(opened)
      const all = await opened.db.all<Row & { at: string; seq: number | string }>(
        sql`select * from audit order by at desc, chain desc, seq desc`,
      )
      const [since, until] = [all[400]?.at ?? '', all[50]?.at ?? '']
      const filters = combinations({
        actor: ['operator', 'client/c1'],
        operation: ['UpdateDropsEntitlements', 'GrantEntitlements'],
        subject: ['entitlements', `entitlement/${entitlementId(2)}`, `entitlement/${entitlementId(12)}`],
      })
      const changes = await opened.db.all<{ seq: number | string }>(sql`select seq from audit_entitlements`)
      const ofSecond = new Set(changes.map(row => Number(row.seq)))
      const isAbout = (row: Row & { seq: number | string }, subject: string | undefined) =>
        row.subject === (subject ?? row.subject) ||
        (subject === `entitlement/${entitlementId(2)}` && ofSecond.has(Number(row.seq)))
      for (const filter of filters) {
        const { subject, ...others } = filter
        for (const times of [{}, { since }, { until }, { since, until }] as const) {
          const expected = all.filter(
            row =>
              matches(row, others) &&
              isAbout(row, subject) &&
              (!('since' in times) || row.at >= since) &&
              (!('until' in times) || row.at < until),
          )
          const walked = await walk(window => audit.page({ ...filter, ...times }, window), auditSortKey, 9)
          expect(walked.map(row => row.seq)).toEqual(expected.map(row => Number(row.seq)))
        }
      }
    })

    test('everything else that is filtered', async () => {
      const { users, games, organizations, benefits, clients } = createStore(opened)
      const byNumber = (a: { id: string }, b: { id: string }) => Number(a.id) - Number(b.id)
      const people = await opened.db.all<{ id: string }>(sql`select id from users`)
      const walked = await walk(window => users.page(window), decimalSortKey, 30)
      expect(walked.map(user => user.id)).toEqual(people.toSorted(byNumber).map(user => user.id))

      const named = { name: ['Game 1', 'Game 8'], organization_id: ['o1', 'o8'] }
      const owned = { organization_id: ['o2', 'o8'], game_id: ['1', '8'] }
      const held = { organization_id: ['o1', 'o8'], owner_user_id: ['1', '8'] }
      await compare(combinations(named), filter =>
        walk(window => games.page(filter, window), decimalSortKey, 6),
      )
      await compare(combinations({ name: ['Organization 1'] }), filter =>
        walk(window => organizations.page(filter, window), idSortKey, 6),
      )
      await compare(combinations(owned), filter =>
        walk(window => benefits.page(filter, window), idSortKey, 6),
      )
      await compare(combinations(held), filter => walk(window => clients.page(filter, window), idSortKey, 6))
    })

    /** A filtered list is the whole list without what does not match. */
    async function compare(
      filters: readonly Filter[],
      list: (filter: Filter) => Promise<Row[]>,
    ): Promise<void> {
      const all = await list({})
      expect(all.length).toBeGreaterThan(100)
      for (const filter of filters) {
        expect(await list(filter)).toEqual(all.filter(row => matches(row, filter)))
      }
    }
  })
}
