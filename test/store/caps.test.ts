/** Caps that are too wide to be reached by asking: the rows are put there first. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { CAPS } from '../../src/store/commands/cap-sizes.ts'
import {
  capAppTokens,
  capCodes,
  capDeviceCodes,
  capGrants,
  capSessions,
  capTokensOfGrant,
} from '../../src/store/commands/caps.ts'
import type { NewToken } from '../../src/store/commands/tokens.ts'
import type { Transaction } from '../../src/store/database.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { sqliteDialect } from '../../src/store/sql/dialects.ts'
import { render, type Sql, sql } from '../../src/store/sql/tag.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { migrateSqlite } from '../../src/store/sqlite/sqlite-migrate.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, engines } from '../support/server.ts'
import { anyStreamKey, retryWhileUnavailable } from '../support/store/stores.ts'

interface Bench {
  readonly store: Store
  /** A statement past every command. */
  execute(statement: string): Promise<void>
}

async function onBench(engine: EngineName, work: (bench: Bench) => Promise<void>): Promise<void> {
  const place = await createStorePlace(engine)
  const file = `${place.folder}/strand.db`
  const store = createStore(
    place.databaseUrl === undefined
      ? await openSqliteEngine(file)
      : await openPostgresEngine(place.databaseUrl, { connections: 5, pooled: false }),
  )
  const execute = async (statement: string) => {
    if (place.databaseUrl === undefined) {
      const connection = new Database(file)
      connection.run(statement)
      connection.close()
      return
    }
    const connection = new SQL(place.databaseUrl, { max: 1 })
    await connection.unsafe(statement)
    await connection.close()
  }
  try {
    const client = { name: 'Shop', organization_id: null, owner_user_id: null, implicit_grant: false }
    for (const id of ['app', 'other'])
      await store.commands.createClient({
        client: { ...client, id, kind: 'public', redirect_uris: [] },
        secret_hash: null,
      })
    const stream_key = anyStreamKey('u')
    await store.commands.putUser({ id: '1', login: 'u', stream_key, now: Date.now() })
    await work({ store, execute })
  } finally {
    await store.close()
    await place.remove()
  }
}

async function numberOf(store: Store, query: ReturnType<typeof sql>): Promise<number> {
  const row = await store.snapshot(async db => await db.get<{ n: number | string }>(query))
  return Number(row?.n)
}

const token = (family: string, changes: Partial<NewToken> = {}): NewToken => ({
  hash: `hash of ${family}`,
  kind: 'refresh',
  client_id: 'app',
  user_id: '1',
  scopes: [],
  family,
  expires_at: '2999-01-01T00:00:00.000Z',
  ...changes,
})

test('SQLite finds what is beyond a cap along an index', async () => {
  const place = await createStorePlace('sqlite')
  const file = `${place.folder}/strand.db`
  await migrateSqlite(file)
  const connection = new Database(file)
  const plans: string[] = []
  const tx = {
    all: async (query: Sql) => {
      const { text, values } = render(query, sqliteDialect)
      const steps = connection.query(`explain query plan ${text}`).all(...values) as { detail: string }[]
      plans.push(...steps.map(({ detail }) => detail))
      return []
    },
  } as unknown as Transaction
  const added = { hash: 'h', client_id: 'c', user_id: 'u', network: 'n', family: 'f' }
  const all = [capDeviceCodes, capCodes, capSessions, capAppTokens, capTokensOfGrant, capGrants]
  for (const cap of all) await cap(tx, added)
  connection.close()
  await place.remove()
  const touched = plans.filter(detail => /device_code|authorization_codes|sessions|tokens/.test(detail))
  expect(touched.length).toBeGreaterThanOrEqual(all.length)
  expect(touched.filter(detail => !/^SEARCH .* USING (COVERING )?INDEX/.test(detail))).toEqual([])
})

describe.each([...engines])('caps on %s', engine => {
  test('one code more than a client may have waiting voids its oldest, and none of another client', () =>
    onBench(engine, async ({ store, execute }) => {
      const device = (name: string, client_id: string) => ({
        hash: name,
        user_code: name,
        client_id,
        scopes: [],
        expires_at: '2026-03-01T12:00:00.000Z',
        network: '192.0.2.1',
      })
      await store.commands.startDevice({ device: device('theirs', 'other') })
      await execute(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${CAPS.deviceCodesOfClient})
         insert into device_codes (hash, user_code, client_id, scopes, decision, network, expires_at)
         select 'old ' || i, 'old ' || i, 'app', '[]', 'pending', '192.0.2.2', '2026-03-01T11:' || (1000000 + i) from n`,
      )
      expect(await store.commands.startDevice({ device: device('new', 'app') })).toBeUndefined()
      const now = '2026-03-01T00:00:00.000Z'
      expect(await store.accounts.waitingDevice('old 1', now)).toBeUndefined()
      for (const name of ['old 2', 'new', 'theirs'])
        expect((await store.accounts.waitingDevice(name, now))?.hash).toBe(name)
      expect(await numberOf(store, sql`select count(*) as n from device_codes where client_id = 'app'`)).toBe(
        CAPS.deviceCodesOfClient,
      )
    }))

  test('the oldest grants make room first', () =>
    onBench(engine, async ({ store }) => {
      const old = Array.from({ length: CAPS.grantsOfUserAndClient }, () => Bun.randomUUIDv7())
      await store.commands.issueTokens({ tokens: old.map(family => token(family)) })
      const known = async (family: string) => (await store.tokens.find(`hash of ${family}`)) !== undefined
      const added: string[] = []
      for (let n = 0; n < 6; n++) {
        const family = Bun.randomUUIDv7()
        added.push(family)
        await store.commands.issueTokens({
          tokens: [token(family)],
          mostGrants: CAPS.grantsOfUserAndClient,
        })
      }
      for (const family of old.slice(0, 6)) expect(await known(family)).toBe(false)
      for (const family of [...old.slice(6), ...added]) expect(await known(family)).toBe(true)
    }))

  test('many who ask at once are all answered, and leave no more than the cap', () =>
    onBench(engine, async ({ store, execute }) => {
      await execute(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${CAPS.appTokensOfClient})
         insert into tokens (hash, kind, client_id, scopes, family, expires_at)
         select 'old ' || i, 'app', 'app', '[]', 'old ' || i, '2999-01-01T00:00:00.000Z' from n`,
      )
      const issued = Array.from({ length: 40 }, () =>
        retryWhileUnavailable(() =>
          store.commands.issueTokens({
            tokens: [token(Bun.randomUUIDv7(), { hash: crypto.randomUUID(), kind: 'app', user_id: null })],
            mostGrants: CAPS.grantsOfUserAndClient,
          }),
        ),
      )
      for (const result of await Promise.all(issued)) expect(result).toBeUndefined()
      const kept = await numberOf(store, sql`select count(*) as n from tokens where kind = 'app'`)
      // Those who came together did not see one another; the next one makes up for it.
      expect(kept).toBeLessThan(CAPS.appTokensOfClient + 20)
    }))
})
