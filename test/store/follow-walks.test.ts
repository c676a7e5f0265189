/**
 * The lists of followers and followed channels against a model: any follows, several in the same second, by ids of any
 * length, walked in pages of any size while users follow and unfollow.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key, Page, PageRequest } from '../../src/contract/page.ts'
import { isoSeconds } from '../../src/kit/time/clock.ts'
import type { Engine } from '../../src/store/engine.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { followedSortKey, followerSortKey } from '../../src/store/queries/follows.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { runs } from '../support/properties.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'

const PEOPLE = 24
const START = Date.parse('2026-03-01T12:00:00Z')

/** Ids of one to eighteen digits, so that text and numbers have different orders. */
const people = Array.from({ length: PEOPLE }, (_, n) => `${1 + (n % 9)}${'0'.repeat((n * 5) % 17)}${n}`)

interface Change {
  readonly person: number
  readonly second: number
  readonly on: boolean
}

const person = fc.nat({ max: PEOPLE - 1 })
const first = fc.array(fc.record({ person, second: fc.nat({ max: 3 }) }), { maxLength: PEOPLE })
const change: fc.Arbitrary<Change> = fc.record({
  person,
  second: fc.integer({ min: 3, max: 6 }),
  on: fc.boolean(),
})
const between = fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 })
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })

const timeOf = (second: number) => isoSeconds(START + second * 1000)

for (const engine of engines) {
  describe(`follows on ${engine}`, () => {
    let place: StorePlace
    let opened: Engine
    let store: Store
    let made = 0
    const newUser = async (id: string) => {
      const stream_key = { key_id: 'k', sealed: 's', lookup_hash: `hash ${id}` }
      await store.commands.putUser({ id, login: `user_${++made}`, stream_key, now: START })
      return id
    }
    beforeAll(async () => {
      place = await createStorePlace(engine)
      opened =
        place.databaseUrl === undefined
          ? await openSqliteEngine(`${place.folder}/strand.db`)
          : await openPostgresEngine(place.databaseUrl, { connections: 4, pooled: false })
      store = createStore(opened)
      for (const id of people) await newUser(id)
    })
    afterAll(async () => {
      await opened.close()
      await place.remove()
    })

    /** One user, and everything that follows them or that they follow. */
    interface Side<Row> {
      readonly pairOf: (other: string, own: string) => { user_id: string; broadcaster_id: string }
      readonly page: (own: string, window: PageRequest) => Promise<Page<Row>>
      readonly total: (own: string) => Promise<number>
      readonly keyOf: (row: Row) => Key
      readonly idOf: (row: Row) => string
    }

    async function prove<Row extends { readonly followed_at: string }>(side: Side<Row>): Promise<void> {
      await fc.assert(
        fc.asyncProperty(first, between, sizes, async (follows, changes, pageSizes) => {
          const own = await newUser(`77${made}`)
          const model = new Map<string, string>()
          const steady = new Set<string>()
          const apply = async ({ person, second, on }: Change) => {
            const id = people[person] ?? ''
            steady.delete(id)
            const pair = side.pairOf(id, own)
            if (!on) {
              if (model.delete(id)) await store.commands.deleteFollow(pair)
            } else if (!model.has(id)) {
              model.set(id, timeOf(second))
              await store.commands.putFollows({ follows: [pair], now: START + second * 1000 })
            }
          }
          for (const each of follows) await apply({ ...each, on: true })
          for (const id of model.keys()) steady.add(id)

          const seen: Row[] = []
          let from: Key | undefined
          for (let turn = 0; ; turn++) {
            const size = pageSizes[turn % pageSizes.length] ?? 1
            const page = await side.page(own, { first: size, direction: 'forward', ...(from && { from }) })
            seen.push(...page.rows)
            const last = page.rows.at(-1)
            if (!page.more || last === undefined) break
            from = side.keyOf(last)
            for (const each of changes[turn] ?? []) await apply(each)
          }
          const ids = seen.map(side.idOf)
          expect(new Set(ids).size).toBe(ids.length)
          expect([...steady].filter(id => !ids.includes(id))).toEqual([])
          expect(await side.total(own)).toBe(model.size)

          const whole = await side.page(own, { first: 100, direction: 'forward' })
          const expected = [...model].toSorted(([a, early], [b, late]) =>
            early === late ? Number(BigInt(b) - BigInt(a)) : early < late ? 1 : -1,
          )
          expect(whole.rows.map(row => [side.idOf(row), row.followed_at])).toEqual(expected)
        }),
        { numRuns: runs(engine === 'sqlite' ? 60 : 25) },
      )
    }

    test(
      'property: a walk of followers shows each steady one once, in order, and the total is exact',
      () =>
        prove({
          pairOf: (user_id, broadcaster_id) => ({ user_id, broadcaster_id }),
          page: (broadcaster_id, window) => store.follows.followers({ broadcaster_id }, window),
          total: id => store.follows.countFollowers(id),
          keyOf: followerSortKey,
          idOf: row => row.user_id,
        }),
      60_000,
    )

    test(
      'property: a walk of followed channels shows each steady one once, in order, and the total is exact',
      () =>
        prove({
          pairOf: (broadcaster_id, user_id) => ({ user_id, broadcaster_id }),
          page: (user_id, window) => store.follows.followed({ user_id }, window),
          total: id => store.follows.countFollowed(id),
          keyOf: followedSortKey,
          idOf: row => row.broadcaster_id,
        }),
      60_000,
    )
  })
}
