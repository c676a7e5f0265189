/**
 * Every list of the census, with every combination of its filters, goes along an index: the handlers run on a store with
 * many rows, what they ask the store is noted, and the engine is asked how it answers that. A list that reads a whole table,
 * sorts, or passes over rows without a bound fails.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Operation } from '../../src/contract/operation.ts'
import type { Key, Page, PageRequest } from '../../src/contract/page.ts'
import { Problem } from '../../src/contract/problem.ts'
import { TRANSFER_TYPES } from '../../src/contract/resources/transfer.ts'
import { Directory } from '../../src/directory/directory.ts'
import { Followings } from '../../src/directory/followings.ts'
import { OpenCampaigns } from '../../src/directory/watch-time/open-campaigns.ts'
import type { Caller } from '../../src/domain/caller.ts'
import { parseChannelSearch } from '../../src/domain/search/channel-search.ts'
import { parseSiteSearch } from '../../src/domain/search/site-search.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import type { Call, Implementation, Services } from '../../src/operations/implement.ts'
import { implementations } from '../../src/operations/index.ts'
import type { Database } from '../../src/store/database.ts'
import type { Engine } from '../../src/store/engine.ts'
import { MAX_PICKED } from '../../src/store/keyset.ts'
import { postgresDialect, sqliteDialect } from '../../src/store/sql/dialects.ts'
import { type Query, render, sql } from '../../src/store/sql/tag.ts'
import { createStore } from '../../src/store/store.ts'
import { LINE_TYPES } from '../../src/store/transfer/line-types.ts'
import { createStorePlace, type EngineName, engines, type StorePlace } from '../support/server.ts'
import {
  entitlementId,
  openEngine,
  openFilled,
  SOME_THOUSAND,
  suspendUsers,
} from '../support/store/many-rows.ts'

const PAGE_SIZE = 20
/** Rows that a statement may read beyond its limit: sometimes a few thousand are sorted rather than followed along an index. */
const SLACK = 2000

/** For each filter, by its name: values that match much and little, or together nothing. One that is not here fails the test. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  organization_id: ['o2', 'o77'],
  user_id: ['1', '77'],
  broadcaster_id: ['1', '77'],
  game_id: ['10', '77'],
  // The last one is of the same organization as the first, and was never granted to a user with many entitlements.
  benefit_id: ['b1', 'b77', 'b501'],
  fulfillment_status: ['CLAIMED', 'FULFILLED'],
  id: [[entitlementId(1), entitlementId(2), 'nothing']],
  owner_user_id: ['1', '77'],
  name: ['Game 1', 'Organization 1', 'nothing'],
  login: ['user1', 'nothing'],
  video_id: ['1', '77'],
  actor: ['operator', 'operator/night-shift'],
  operation: ['UpdateDropsEntitlements', 'DeleteUser'],
  subject: ['entitlements', `entitlement/${entitlementId(2)}`],
  since: ['2026-03-01T00:00:00Z'],
  until: ['2026-03-02T00:00:00Z'],
  user_login: [['user1', 'nothing']],
  query: ['game 1', 'Game 77', 'ame 77', 'u', 'user1', 'use r', 'nothing'],
  live_only: ['true', 'false'],
  type: ['all'],
  language: [['en']],
  state: ['published', 'draft'],
  channel_id: ['1', '77'],
  phase: ['active', 'claimable'],
}
/** Values for one operation only, where its filter of this name is of another form or other values matter. */
const VALUES_OF: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  GetEventSubSubscriptions: {
    status: ['enabled', 'user_removed'],
    type: ['stream.online', 'user.update', 'nothing'],
    subscription_id: ['s1', 'nothing'],
    user_id: ['1', '77'],
  },
  ListEvents: { type: ['stream.online', 'user.update', 'nothing'], subject: ['1', '77', 'nothing'] },
  ListDeliveries: {
    subscription_id: ['s1', 's77'],
    event_id: ['v1', 'nothing'],
    status: ['delivered', 'failed'],
  },
  ListEventSubscriptions: {
    client_id: ['c1', 'c77', 'nothing'],
    type: ['stream.online', 'user.update', 'nothing'],
    status: ['enabled', 'user_removed', 'authorization_revoked'],
  },
  GetVideos: {
    id: [['1', '77', 'nothing']],
    game_id: ['1', '77', 'nothing'],
    period: ['day', 'all'],
    sort: ['time', 'views'],
    type: ['archive'],
    language: ['en', 'nothing'],
  },
}
/** Values of path parameters that exist. */
const PARAMS: Readonly<Record<string, string>> = {
  organization_id: 'o1',
  user_id: '1',
  entitlement_id: entitlementId(2),
}

const CALLERS: Readonly<Record<'operator' | 'app' | 'user', Caller>> = {
  operator: { kind: 'operator', name: null },
  app: { kind: 'app', client_id: 'c1', organization_id: 'o2' },
  user: {
    kind: 'user',
    client_id: 'c1',
    organization_id: 'o2',
    user_id: '1',
    login: 'user1',
    scopes: ['moderator:read:followers'],
  },
}

const lists = implementations.filter(({ operation }) => operation.page !== undefined)

function callersOf({ access }: Operation): Caller[] {
  if (access.kind === 'operator') return [CALLERS.operator]
  return access.kind === 'token' && !access.app ? [CALLERS.user] : [CALLERS.app, CALLERS.user]
}

/** Every combination of filters and, for each, of their values. */
function* queriesOf(operation: Operation): Generator<Readonly<Record<string, unknown>>> {
  const filters = Object.keys(operation.query?.properties ?? {})
  const required = operation.query?.required ?? []
  for (let chosen = 0; chosen < 1 << filters.length; chosen++) {
    const names = filters.filter((_, index) => (chosen >> index) % 2 === 1)
    if (!required.every(name => names.includes(name))) continue
    if (operation.exactlyOne && names.filter(name => operation.exactlyOne?.includes(name)).length !== 1)
      continue
    yield* withValues(names, { ...VALUES, ...VALUES_OF[operation.id] })
  }
}

function* withValues(
  [name, ...more]: readonly string[],
  valuesOf: typeof VALUES,
): Generator<Readonly<Record<string, unknown>>> {
  if (name === undefined) return yield {}
  const values = valuesOf[name]
  if (values === undefined) throw new Error(`set in VALUES what to filter by with "${name}"`)
  for (const rest of withValues(more, valuesOf)) for (const value of values) yield { [name]: value, ...rest }
}

/** Rows that a request may get from the store, whatever matches: its page, from a few ranges, and what it looks up for it. */
const MAX_ROWS = 1500
/** The most rows that a page of these lists is picked from: no index serves their filters. */
const PICKED: Readonly<Record<string, number>> = {
  GetVideos: MAX_PICKED,
  GetEventSubSubscriptions: MAX_PICKED,
  ListEventSubscriptions: MAX_PICKED,
  ListEvents: MAX_PICKED,
  ListDeliveries: MAX_PICKED,
  // Rows about one entitlement alone and rows about several are read side by side.
  ListAudit: 2 * MAX_PICKED,
  ListStreams: MAX_PICKED,
  ListCampaigns: MAX_PICKED,
  ListEntitlements: MAX_PICKED,
  // Those that begin with the text, and then all.
  SearchCategories: 2 * SOME_THOUSAND,
  // Up to 2000 names are sorted.
  SearchChannels: 2000,
}

/** A store that notes what it is asked. */
class Noted {
  readonly queries = new Map<string, Query>()
  /** Rows that it returned, and how often it was asked. */
  rows = 0
  asked = 0
  readonly db: Database
  readonly #engine: EngineName

  constructor(db: Database, engine: EngineName) {
    this.#engine = engine
    this.db = {
      all: async query => {
        const rows = await this.#note(query, () => db.all<never>(query))
        this.rows += rows.length
        return rows
      },
      get: query => this.#note(query, () => db.get(query)),
    }
  }

  /** Each text is looked at once for every combination of values; those of the same text share their plan on SQLite. */
  #note<T>(query: Query, ask: () => T): T {
    this.asked += 1
    const { text, values } = render(query, this.#engine === 'sqlite' ? sqliteDialect : postgresDialect)
    this.queries.set(this.#engine === 'sqlite' ? text : `${text}\n${values.join('\n')}`, query)
    return ask()
  }
}

/**
 * Asks for the first page and the one behind it, and where the list has it, for the one in front of that. Returns the most
 * rows that the store returned for one of them.
 */
async function walk(
  implementation: Implementation,
  services: Services,
  caller: Caller,
  query: object,
  notes: Noted,
): Promise<number> {
  let most = 0
  const { operation } = implementation
  const ask = async (window: PageRequest) => {
    let last: { from: Key; memory?: Key } | undefined
    const paginate = <Row>(page: Page<Row>, keyOf: (row: Row) => Key, memory?: Key) => {
      const row = page.rows.at(-1)
      if (row !== undefined && page.more) last = { from: keyOf(row), ...(memory && { memory }) }
      return {}
    }
    notes.rows = 0
    const params = operation.params === undefined ? {} : PARAMS
    const call = { params, query, caller, window, paginate, body: {} } as unknown as Call<Operation>
    try {
      await implementation.handle(call, services)
    } catch (error) {
      // Another organization's game and the like: what was asked until then counts.
      if (!(error instanceof Problem)) throw error
    }
    most = Math.max(most, notes.rows)
    return last
  }
  const first = await ask({ first: PAGE_SIZE, direction: 'forward' })
  if (first === undefined) return most
  await ask({ first: PAGE_SIZE, direction: 'forward', ...first })
  if (operation.page?.before) await ask({ first: PAGE_SIZE, direction: 'backward', ...first })
  return most
}

interface Examiner {
  /** What is wrong with how the engine answers a query; nothing if it goes along an index. */
  faultsOf(query: Query): Promise<string[]>
  close(): Promise<void>
}

for (const engine of engines) {
  describe(`lists on ${engine}`, () => {
    let place: StorePlace
    let opened: Engine
    let examiners: readonly Examiner[]
    beforeAll(async () => {
      place = await createStorePlace(engine)
      opened = await openFilled(place)
      const file = `${place.folder}/strand.db`
      examiners =
        engine === 'sqlite'
          ? [examineSqlite(file), examineSqlite(copyWithStatistics(file), ONE_MOMENT)]
          : [await examinePostgres(place)]
    })
    afterAll(async () => {
      for (const examiner of examiners) await examiner.close()
      await opened.close()
      await place.remove()
    })

    const noted = () => {
      const notes = new Noted(opened.db, engine)
      const store = createStore({ ...opened, db: notes.db })
      const directory = new Directory({ publicUrl: '' })
      const services = {
        store,
        directory,
        followings: new Followings(store, directory),
        // The day on which the rows were made.
        clock: { now: () => Date.parse('2026-03-02T00:00:00Z') },
        campaigns: new OpenCampaigns(store, { now: () => Date.parse('2026-03-02T00:00:00Z') }),
        publicUrl: '',
      } as unknown as Services
      return { notes, services }
    }

    const requireNoFaults = async (queries: readonly Query[]) => {
      for (const examiner of examiners) {
        const faults: string[] = []
        for (const query of queries) faults.push(...(await examiner.faultsOf(query)))
        expect(faults.slice(0, 3)).toEqual([])
      }
    }

    for (const implementation of lists) {
      const { operation } = implementation
      test(`${operation.id} goes along an index with every combination of filters`, async () => {
        const { notes, services } = noted()
        let asked = 0
        const tooMany: string[] = []
        for (const caller of callersOf(operation)) {
          for (const query of queriesOf(operation)) {
            const most = await walk(implementation, services, caller, query, notes)
            const bound = MAX_ROWS + (PICKED[operation.id] ?? 0)
            if (most > bound) tooMany.push(`${JSON.stringify(query)} as ${caller.kind} reads ${most} rows`)
            asked += 1
          }
        }
        expect(asked).toBeGreaterThan(0)
        expect(tooMany.slice(0, 3)).toEqual([])
        await requireNoFaults([...notes.queries.values()])
      })
    }

    test('an export goes along an index', async () => {
      const { notes } = noted()
      for (const type of TRANSFER_TYPES) {
        let steps = 0
        for await (const _ of LINE_TYPES[type].all(notes.db, PAGE_SIZE)) if (++steps === 2) break
      }
      await requireNoFaults([...notes.queries.values()])
    })

    test('a list that is picked from a long one lets others have their turn', async () => {
      const { notes, services } = noted()
      let turns = 0
      const others = setInterval(() => {
        turns += 1
      }, 0)
      // Half of twenty thousand entitlements are of one user and one organization, and none has this benefit.
      const filter = { user_id: '1', benefit_id: 'b501' }
      const [pages, window] = [[], { first: PAGE_SIZE, direction: 'forward' } as const] as [
        unknown[],
        PageRequest,
      ]
      for (let from: Key | undefined, more = true; more; ) {
        notes.rows = 0
        const page = await services.store.entitlements.page(filter, { ...window, ...(from && { from }) })
        expect(notes.rows).toBeLessThanOrEqual(MAX_PICKED + 5 * PAGE_SIZE)
        pages.push(...page.rows)
        from = page.span?.last
        more = page.more
      }
      clearInterval(others)
      expect(pages).toEqual([])
      expect(turns).toBeGreaterThan(10)
      await requireNoFaults([...notes.queries.values()])
    })

    test('a list that has no index is found out', async () => {
      const { notes } = noted()
      await notes.db.all(
        sql`select id from organization_entitlements where last_updated = ${1} limit cast(${21} as integer)`,
      )
      await notes.db.all(
        sql`select id from organization_entitlements where user_id = ${'1'} order by last_updated limit cast(${21} as integer)`,
      )
      await notes.db.all(
        sql`select id from organization_entitlements where user_id = ${'1'} and last_updated = ${1} order by timestamp, id limit cast(${21} as integer)`,
      )
      for (const query of notes.queries.values()) {
        await expect(requireNoFaults([query])).rejects.toThrow()
      }
    })

    // The last one: it changes the rows.
    test('a search reads no suspended users, though 88,889 of 100,000 are', async () => {
      await opened.close()
      await suspendUsers(place, "login not like 'user9%'")
      opened = await openEngine(place)
      const { notes, services } = noted()
      const { channelSearch } = services.store
      for (const [query, login] of [
        ['u', 'user9'],
        ['user9', 'user9'],
        ['user 9', 'user9'],
        ['user1', undefined],
        ['user 1', undefined],
      ] as const) {
        const search = assertDefined(parseChannelSearch(query), 'a query')
        const { rows, more } = await channelSearch.page(search, { first: 1, direction: 'forward' })
        const expected = login === undefined ? [] : [login]
        expect([query, rows.map(each => each.login), more]).toEqual([query, expected, login !== undefined])
      }
      await requireNoFaults([...notes.queries.values()])
      expect(await channelSearch.inside(assertDefined(parseSiteSearch('ser1'), 'a search'), 20)).toEqual([])
      expect(await channelSearch.inside(assertDefined(parseSiteSearch('ser9'), 'a search'), 20)).toHaveLength(
        20,
      )
      expect([notes.rows < SLACK + 200, notes.asked < 50]).toEqual([true, true])
    })
  })
}

interface Step {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** A store that SQLite has analyzed, as it may be. */
function copyWithStatistics(file: string): string {
  const copy = `${file}-analyzed`
  using original = new Sqlite(file)
  original.run('vacuum into ?', [copy])
  using connection = new Sqlite(copy)
  connection.run('analyze')
  return copy
}

/**
 * SQLite reports which index it searches and by how many conditions. All conditions of a page must be among them: one that is
 * not would be held against row after row, unless the rows that are searched are `few`.
 */
function examineSqlite(file: string, few?: RegExp): Examiner {
  const connection = new Sqlite(file)
  /** The conditions of the partial index that a step searches. */
  const impliedBy = (step: string): readonly string[] => {
    const { sql: text = '' } = (connection
      .query('select sql from sqlite_master where name = ?')
      .get(step.match(/ INDEX (\w+)/)?.[1] ?? '') ?? {}) as { sql?: string | null }
    return text?.split(/\s+where\s+/)[1]?.split(' and ') ?? []
  }
  return {
    faultsOf: async query => {
      const { text, values } = render(query, sqliteDialect)
      const all = connection.query(`explain query plan ${text}`).all(...values) as Step[]
      // What was cut before is not read again.
      const cut = all.map(step => step.detail.match(/^CO-ROUTINE (\w+)$/)?.[1])
      const steps = all.filter(step => !cut.some(name => name && step.detail === `SCAN ${name}`))
      // Nor does it matter how the rows of a page are put in order once it is cut.
      const faults = steps
        .filter(
          step => !(step.parent === 0 && step.detail.startsWith('USE TEMP B-TREE') && cut.some(Boolean)),
        )
        .map(step => step.detail)
        .filter(
          step =>
            (/^SCAN (?!found|json_each|CONSTANT)/.test(step) &&
              !step.includes(' USING ') &&
              !IN_ORDER_OF_ROWS.test(text)) ||
            (step.includes('TEMP B-TREE') && !(TIES.test(text) && step.includes('LAST 2 TERMS'))),
        )
      // SQLite compiles a statement again for each value of a bare mark behind `limit`.
      if (/limit \?/.test(text)) faults.push('bare limit')
      for (const driver of isPage(text) ? driversOf(steps).filter(each => !few?.test(each)) : []) {
        const used = driver.match(/\((.*)\)$/)?.[1]?.split(' AND ').length ?? 0
        const conditions = conditionsIn(text, impliedBy(driver))
        if (used !== conditions) faults.push(`of ${conditions} conditions the index takes ${used}: ${driver}`)
      }
      return faults.map(fault => `${fault}\n  in ${text}`)
    },
    close: async () => connection.close(),
  }
}

/** Rows of one millisecond are few: with statistics SQLite knows that. */
const ONE_MOMENT = /\bcreated_at=\? AND/
/** Rows of the same millisecond, which are few, are put in order without an index. */
const TIES = /from audit|order by ended_at/
/** The keys in whose order SQLite stores tables that are exported whole. */
const STORED_BY: Readonly<Record<string, readonly string[]>> = {
  users: ['id'],
  games: ['id'],
  channels: ['user_id'],
  streams: ['user_id'],
  editors: ['user_id', 'editor_id'],
  follows: ['user_id', 'broadcaster_id'],
  video_markers: ['video_id', 'position_seconds', 'id'],
  drop_claims: ['user_id', 'drop_id', 'benefit_id'],
}
const pagesByKey = Object.entries(STORED_BY).map(([table, key]) => {
  const after = `\\(${key.join(', ')}\\) > \\(${key.map(() => '\\?').join(', ')}\\)`
  return `${table} where (?:1 = 1|${after}) order by ${key.map(column => `${column} asc`).join(', ')}`
})
/** A page of a whole table in the order in which SQLite stores it: by its number, or by its key. */
const IN_ORDER_OF_ROWS = new RegExp(
  `from (?:(?:events|event_deliveries) where 1 = 1 order by seq desc|${pagesByKey.join('|')}) limit`,
)
const isPage = (text: string) => text.includes('limit cast(')

/** The outermost loop of each branch of what cuts the page; what is found by its key for the rows of a page is not one. */
function driversOf(steps: readonly Step[]): string[] {
  const cutting = steps.filter(step => step.detail.startsWith('CO-ROUTINE'))
  const loops = steps.filter(({ parent, detail }) => {
    const inside = steps.find(step => step.id === parent)?.detail ?? ''
    const cuts = cutting.length === 0 ? !inside.includes('SUBQUERY') : inside.startsWith('CO-ROUTINE')
    return cuts && /^(SEARCH|SCAN)/.test(detail)
  })
  const outermost = new Map(loops.toReversed().map(step => [step.parent, step.detail]))
  return [...outermost.values()]
}

/** How many conditions each branch of a page has, without those that all rows of its index meet. */
function conditionsIn(text: string, implied: readonly string[]): number {
  const cut = text.match(/from \((select .*limit cast\(\? as integer\))\)/s)?.[1] ?? text
  const [branch = ''] = cut.split(' union all ')
  const where = branch.slice(branch.lastIndexOf(' where ') + 7).split(/\s+(?:order by|limit) /)[0] ?? ''
  return where.split(' and ').filter(condition => condition !== '1 = 1' && !implied.includes(condition))
    .length
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** So often PostgreSQL makes a plan for the values before it thinks of one for any. */
const CUSTOM_PLANS = 5

/**
 * PostgreSQL reports how many rows it really read: with a plan for these values, and with the plan for any values that it may
 * change to when a statement comes often.
 */
async function examinePostgres(place: StorePlace): Promise<Examiner> {
  const client = new SQL(place.databaseUrl ?? '', { max: 1 })
  const plansOf = async (query: Query): Promise<PlanNode[]> => {
    const { text, values } = render(query, postgresDialect)
    const given = values.map(value => (typeof value === 'number' ? value : `'${value}'`)).join(', ')
    const plans: PlanNode[] = []
    await client.unsafe(`prepare noted as ${text}`)
    const execute = `execute noted${given && `(${given})`}`
    for (let time = 0; time <= CUSTOM_PLANS; time++) {
      // In between it only plans.
      if (time > 0 && time < CUSTOM_PLANS) await client.unsafe(`explain ${execute}`)
      else {
        const [row] = await client.unsafe(`explain (analyze, timing off, format json) ${execute}`)
        plans.push(row['QUERY PLAN'][0].Plan)
      }
    }
    await client.unsafe('deallocate noted')
    return plans
  }
  return {
    // What is sorted was read before, and few rows may well be.
    faultsOf: async query => {
      const { text, values } = render(query, postgresDialect)
      const most = (isPage(text) ? Number(values.at(-1)) : 1) + SLACK
      const plans = await plansOf(query)
      return plans.flatMap(nodesIn).flatMap(node => {
        const kind = node['Node Type']
        const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
        const isTooMuch = kind.includes('Scan') && read > most
        return isTooMuch ? [`${kind} on ${node['Relation Name']} reads ${read} rows\n  in ${text}`] : []
      })
    },
    close: () => client.close(),
  }
}

function nodesIn(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesIn)]
}
