/**
 * PostgreSQL without statistics, as after a restore or a first import: every operation that takes a list is called with its
 * longest one. None takes longer than its deadline, and no plan reads a list again for every row.
 */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { SQL } from 'bun'
import type { Operation } from '../../src/contract/operation.ts'
import { isRefusal } from '../../src/contract/problem.ts'
import { Directory } from '../../src/directory/directory.ts'
import type { Caller } from '../../src/domain/caller.ts'
import type { Call, Services } from '../../src/operations/implement.ts'
import { implementations } from '../../src/operations/index.ts'
import type { Engine } from '../../src/store/engine.ts'
import { PostgresTransaction } from '../../src/store/postgres/postgres-transaction.ts'
import { postgresDialect } from '../../src/store/sql/dialects.ts'
import { type Query, render } from '../../src/store/sql/tag.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { entitlementId, openFilled } from '../support/store/many-rows.ts'

/** So often a statement is planned for its values before PostgreSQL considers a plan for any values. */
const CALLS = 7
const TIMEOUT_MILLISECONDS = 120_000

const user: Caller = {
  kind: 'user',
  client_id: 'c1',
  organization_id: 'o2',
  user_id: '1',
  login: 'user1',
  scopes: ['channel:manage:videos'],
}
const app: Caller = { kind: 'app', client_id: 'c1', organization_id: 'o2' }
const operator: Caller = { kind: 'operator', name: null }

/** The n-th of the values of a list; some of them exist. */
type Value = (n: number) => unknown
const number: Value = n => String(n + 1)

interface ListCall {
  readonly caller: Caller
  readonly value: Value
  readonly rest?: Readonly<Record<string, unknown>>
}

const CAMPAIGN = {
  name: 'Reef week',
  organization_id: 'o1',
  game_id: '20',
  starts_at: '2026-03-03T00:00:00Z',
  ends_at: '2026-03-10T00:00:00Z',
}

/** By operation and field: what its list has. */
const CALLS_OF: Readonly<Record<string, ListCall>> = {
  // Those with even numbers belong to the organization of the caller.
  'GetDropsEntitlements id': { caller: app, value: n => entitlementId(2 * n + 2) },
  'UpdateDropsEntitlements entitlement_ids': {
    caller: app,
    value: n => entitlementId(500 * n + 2),
    rest: { fulfillment_status: 'FULFILLED' },
  },
  'GetUsers id': { caller: app, value: number },
  'GetUsers login': { caller: app, value: n => `user${n}` },
  'GetGames id': { caller: app, value: number },
  'GetGames name': { caller: app, value: n => `Game ${n}` },
  'GetGames igdb_id': { caller: app, value: number },
  'GetVideos id': { caller: app, value: number },
  'DeleteVideos id': { caller: user, value: number },
  'GetChannelInformation broadcaster_id': { caller: app, value: number },
  'PutFollows follows': {
    caller: operator,
    value: n => ({ user_id: String(n + 2), broadcaster_id: '1', followed_at: '2026-02-14T18:00:05Z' }),
  },
  'GrantEntitlements grants': {
    caller: operator,
    // The same game and different benefits of its organization.
    value: n => ({ user_id: String(n + 1), benefit_id: `b${500 * (n % 12) + 499}`, game_id: '20' }),
  },
  'PutCampaign channel_ids': {
    caller: operator,
    value: number,
    rest: { ...CAMPAIGN, channels: 'listed' },
  },
  'PutCampaign drops': {
    caller: operator,
    // Ten benefits each, of the organization of the game.
    value: n => ({
      id: `00000000-0000-4000-9000-${100_000_000_000 + n}`,
      name: 'Drop',
      required_minutes: n + 1,
      benefit_ids: Array.from({ length: 10 }, (_, k) => `b${500 * k + 499}`),
    }),
    rest: CAMPAIGN,
  },
  'ListEntitlements id': { caller: operator, value: n => entitlementId(n) },
}
/** Answered from memory, or no list of rows. */
const NOT_LOOKED_UP = /^GetStreams|redirect_uris$|links$|scopes$|tags$|content_classification_labels$/

interface ListField {
  readonly operation: Operation
  readonly part: 'query' | 'body'
  readonly field: string
  readonly longest: number
}

const fields: readonly ListField[] = implementations.flatMap(({ operation }) =>
  (['query', 'body'] as const).flatMap(part => {
    const properties = (operation[part] as { properties?: Record<string, ListSchema> } | undefined)
      ?.properties
    return Object.entries(properties ?? {})
      .filter(([field, { type }]) => type === 'array' && !NOT_LOOKED_UP.test(`${operation.id} ${field}`))
      .map(([field, { maxItems = 0 }]) => ({ operation, part, field, longest: maxItems }))
  }),
)
interface ListSchema {
  readonly type?: string
  readonly maxItems?: number
}

/** A list that is read again for every row that a node of a plan looks at. */
const READ_PER_ROW = /^\s*(?:Filter|Join Filter|Hash Cond): .*(?:\[\]|json)/m

describe.skipIf(!engines.includes('postgres'))('without statistics', () => {
  let place: StorePlace
  let opened: Engine
  let client: SQL
  const sent = new Map<string, readonly unknown[]>()
  const spy = spyOn(PostgresTransaction.prototype, 'unsafe')
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    opened = await openFilled(place, 1, { analyze: false })
    client = new SQL(place.databaseUrl ?? '', { max: 1 })
    // As it is in the rows: benefits of the organization of the game.
    await client.unsafe(`update benefits set organization_id = 'o1', game_id = null where id like 'b%99'`)
    await client.unsafe(`update games set organization_id = 'o1' where id = '20'`)
  }, TIMEOUT_MILLISECONDS)
  afterAll(async () => {
    spy.mockRestore()
    await client.close()
    await opened.close()
    await place.remove()
  })

  const note = (query: Query) => {
    const { text, values } = render(query, postgresDialect)
    sent.set(text, values)
    return query
  }
  const plansOfSent = async () => {
    for (const [text, values] of spy.mock.calls) sent.set(text, values)
    const plans: string[] = []
    for (const [text, values] of [...sent].filter(([each]) => /\bany\(|json_to_recordset/.test(each))) {
      await client.begin(async tx => {
        const rows: { 'QUERY PLAN': string }[] = await tx.unsafe(`explain ${text}`, [...values])
        plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
      })
    }
    return plans
  }

  test('tables have none', async () => {
    const [row] = await client.unsafe(
      `select reltuples from pg_class where relname = 'organization_entitlements'`,
    )
    expect(row.reltuples).toBe(-1)
  })

  test.each(fields.map(each => [`${each.operation.id} ${each.field}`, each] as const))(
    '%s with its longest list',
    async (name, { operation, part, field, longest }) => {
      const list = CALLS_OF[name]
      if (list === undefined) throw new Error(`set in CALLS_OF what "${name}" is called with`)
      expect(longest).toBeGreaterThan(0)
      sent.clear()
      spy.mockClear()
      const { db } = opened
      const noted = {
        all: <Row>(query: Query) => db.all<Row>(note(query)),
        get: <Row>(query: Query) => db.get<Row>(note(query)),
      }
      const store = createStore({ ...opened, db: noted })
      const services = {
        store,
        directory: new Directory({ publicUrl: '' }),
        clock: { now: () => Date.parse('2026-03-02T00:00:00Z') },
        publicUrl: '',
      } as unknown as Services
      const implementation = implementations.find(each => each.operation.id === operation.id)
      const values = Array.from({ length: longest }, (_, n) => list.value(n))
      const call = {
        params: { campaign_id: '00000000-0000-4000-a000-000000000001' },
        query: {},
        body: {},
        caller: list.caller,
        window: { first: 20, direction: 'forward' },
        paginate: () => ({}),
        [part]: { ...list.rest, [field]: values },
      } as unknown as Call<Operation>
      // Also with the plan for any values.
      for (let n = 0; n < CALLS; n++) {
        const answer = await implementation?.handle(call, services)
        if (operation.id !== 'DeleteVideos') expect(isRefusal(answer)).toBe(false)
      }
      const plans = await plansOfSent()
      expect(plans.length).toBeGreaterThan(0)
      expect(plans.filter(plan => READ_PER_ROW.test(plan))).toEqual([])
    },
    TIMEOUT_MILLISECONDS,
  )
})
