/** The audit log's chains: whatever is done to a row or a head behind Strand's back is found. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Author } from '../../src/domain/audit.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { auditQueries } from '../../src/store/queries/audit.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, type EngineName, engines } from '../support/server.ts'
import { anyStreamKey } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const ORGANIZATION = '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1'

const author = (changes: Partial<Author> = {}): Author => ({
  actor: 'operator',
  operation: 'PutGame',
  chain: 'operator',
  at: new Date(NOW).toISOString(),
  ...changes,
})

/** A store, and a way to write into it past all its rules. */
async function openWithBackDoor(engine: EngineName) {
  const place = await createStorePlace(engine)
  const { databaseUrl } = place
  const file = `${place.folder}/strand.db`
  const store = createStore(
    databaseUrl === undefined
      ? await openSqliteEngine(file)
      : await openPostgresEngine(databaseUrl, { connections: 5, pooled: false }),
  )
  const tamper = async (statement: string) => {
    if (databaseUrl === undefined) {
      const connection = new Database(file)
      connection.run('pragma busy_timeout = 5000')
      connection.run(statement)
      connection.close()
      // Reads that are made together share a view; what follows a command sees everything.
      await store.commands.setFact({ name: 'tampered', value: statement })
      return
    }
    const client = new SQL(databaseUrl, { max: 1 })
    await client.unsafe(statement)
    await client.close()
  }
  const close = async () => {
    await store.close()
    await place.remove()
  }
  return { store, tamper, close }
}

/** Two chains with eight and four rows. */
async function fill(store: Store): Promise<void> {
  for (let n = 1; n <= 8; n++) await store.as(author()).commands.putGame({ id: String(n), name: `Game ${n}` })
  const other = store.as(author({ chain: ORGANIZATION, actor: 'client/c' }))
  for (let n = 1; n <= 4; n++) await other.commands.putGame({ id: '1', name: `Renamed ${n}` })
}

/** What has to go before the games. */
const EMPTIED = [
  'audit_entitlements',
  'organization_entitlements',
  'entitlement_benefits',
  'entitlement_organizations',
  'benefits',
]

const row = (seq: number) => `chain = 'operator' and seq = ${seq}`
const COLUMNS = 'chain, seq, at, actor, operation, subject, place, before, after, previous, hash'

const TAMPERINGS: Record<string, { statements: string[]; found: { chain: string; seq: number } }> = {
  ...Object.fromEntries(
    ['at', 'actor', 'operation', 'subject', 'place', 'before', 'after', 'previous', 'hash'].map(column => [
      `another ${column}`,
      {
        statements: [`update audit set ${column} = 'x' where ${row(5)}`],
        found: { chain: 'operator', seq: 5 },
      },
    ]),
  ),
  'a row moved into another chain': {
    statements: [`update audit set chain = 'elsewhere' where ${row(3)}`],
    found: { chain: 'elsewhere', seq: 1 },
  },
  'a row taken out of the middle': {
    statements: [`delete from audit where ${row(4)}`],
    found: { chain: 'operator', seq: 4 },
  },
  'the first row taken away': {
    statements: [`delete from audit where ${row(1)}`],
    found: { chain: 'operator', seq: 1 },
  },
  'the last row taken away': {
    statements: [`delete from audit where ${row(8)}`],
    found: { chain: 'operator', seq: 8 },
  },
  'the last rows taken away and the head set back': {
    statements: [
      `delete from audit where chain = 'operator' and seq > 6`,
      `update audit_heads set seq = 6 where chain = 'operator'`,
    ],
    found: { chain: 'operator', seq: 6 },
  },
  'two rows swapped': {
    statements: [
      `update audit set seq = 99 where ${row(2)}`,
      `update audit set seq = 2 where ${row(3)}`,
      `update audit set seq = 3 where ${row(99)}`,
    ],
    found: { chain: 'operator', seq: 2 },
  },
  'a row put in behind the end': {
    statements: [
      `insert into audit (${COLUMNS}) select chain, 9, at, actor, operation, subject, place, before, after, hash, hash
       from audit where ${row(8)}`,
    ],
    found: { chain: 'operator', seq: 9 },
  },
  'a row put in front of the first': {
    statements: [
      `insert into audit (${COLUMNS}) select chain, 0, at, actor, operation, subject, place, before, after, previous, hash
       from audit where ${row(1)}`,
    ],
    found: { chain: 'operator', seq: 0 },
  },
  'a row put in between, the rest moved up': {
    statements: [
      `update audit set seq = seq + 100 where chain = 'operator' and seq > 4`,
      `update audit set seq = seq - 99 where chain = 'operator' and seq > 100`,
      `insert into audit (${COLUMNS}) select chain, 5, at, actor, operation, subject, place, before, after, previous, hash
       from audit where ${row(4)}`,
    ],
    found: { chain: 'operator', seq: 5 },
  },
  'the head taken away': {
    statements: [`delete from audit_heads where chain = 'operator'`],
    found: { chain: 'operator', seq: 1 },
  },
  'all rows of a chain taken away': {
    statements: [`delete from audit where chain = '${ORGANIZATION}'`],
    found: { chain: ORGANIZATION, seq: 1 },
  },
  'another hash in the head': {
    statements: [`update audit_heads set hash = 'x' where chain = '${ORGANIZATION}'`],
    found: { chain: ORGANIZATION, seq: 4 },
  },
  'a beginning that claims to be later': {
    statements: [`update audit_heads set begins_after_seq = 2 where chain = 'operator'`],
    found: { chain: 'operator', seq: 3 },
  },
}

for (const engine of engines) {
  describe(`the audit log on ${engine}`, () => {
    let opened: Awaited<ReturnType<typeof openWithBackDoor>>
    let store: Store
    beforeAll(async () => {
      opened = await openWithBackDoor(engine)
      store = opened.store
    })
    afterAll(() => opened.close())

    const empty = async () => {
      await opened.tamper('delete from audit')
      await opened.tamper('delete from audit_heads')
      await opened.tamper('delete from games')
    }

    test('an empty one is whole, and so is one that was written properly', async () => {
      expect(await store.audit.verify()).toEqual({ rows: 0, heads: [] })
      await fill(store)
      const steps: number[] = []
      expect(await store.audit.verify(rows => steps.push(rows))).toEqual({
        rows: 12,
        heads: [
          { chain: ORGANIZATION, seq: 4, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
          { chain: 'operator', seq: 8, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ],
      })
      expect(steps).toEqual([4, 12])
      expect(await store.audit.size()).toBe(12)
      await empty()
    })

    for (const [title, { statements, found }] of Object.entries(TAMPERINGS)) {
      test(`finds ${title}`, async () => {
        await fill(store)
        for (const statement of statements) await opened.tamper(statement)
        expect(await store.audit.verify()).toMatchObject({ flaw: found })
        await empty()
      })
    }

    test('without an author nothing is recorded, and a command that fails records nothing', async () => {
      await store.commands.putGame({ id: '1', name: 'Unrecorded' })
      const steps = [
        ['putGame', { id: '2', name: 'Half done' }],
        ['putGame', { id: '3' }],
      ] as const
      const failure = await store
        .as(author())
        .commands.runSteps({ steps })
        .catch((error: Error) => error.message)
      expect(failure).toContain('missing_parameter')
      await store.as(author()).commands.putGame({ id: '4' })
      expect(await store.audit.verify()).toEqual({ rows: 0, heads: [] })
      await empty()
    })

    test('many commands as one are recorded one by one', async () => {
      const steps = Array.from({ length: 1200 }, (_, n) => {
        return ['putGame', { id: String(n + 1), name: `Game ${n}` }] as const
      })
      await store.as(author({ operation: 'Import' })).commands.runSteps({ steps })
      const reached: number[] = []
      const verdict = await store.audit.verify(rows => reached.push(rows))
      expect(verdict).toMatchObject({ rows: 1200, heads: [{ chain: 'operator', seq: 1200 }] })
      // No more than a thousand rows are held at a time.
      expect(reached).toEqual([1000, 1200])
      await empty()
    })

    test('commands that run together, some of which fail, leave chains without gaps', async () => {
      await Promise.allSettled(
        Array.from({ length: 100 }, (_, n) => {
          const chain = n % 3 === 0 ? ORGANIZATION : 'operator'
          const { commands } = store.as(author({ chain }))
          return n % 10 === 7
            ? commands.runSteps({
                steps: [
                  ['putGame', { id: `${n}`, name: 'Half' }],
                  ['putGame', { id: 'nameless' }],
                ],
              })
            : commands.putGame({ id: `${n}`, name: `Game ${n}` })
        }),
      )
      // Under load some may have been turned away; what happened and what was recorded is the same.
      const games = await store.games.page({}, { first: 100, direction: 'forward' })
      expect(games.rows.length).toBeGreaterThan(50)
      expect(games.rows.map(game => game.name)).not.toContain('Half')
      expect(await store.audit.verify()).toMatchObject({ rows: games.rows.length })
      await empty()
    })

    test('is verified while it is being written', async () => {
      let writing = true
      const writer = (async () => {
        for (let n = 0; writing; n++)
          await store.as(author()).commands.putGame({ id: '1', name: `Game ${n}` })
      })()
      for (let round = 0; round < 30; round++) {
        expect(await store.audit.verify()).toMatchObject({ rows: expect.any(Number) })
      }
      writing = false
      await writer
      await empty()
    })

    test('changes of an entitlement stay in order though the clock steps back', async () => {
      const id = 'fb78259e-fb81-4d1b-8333-34a06ffc24c0'
      const timestamp = new Date(NOW).toISOString()
      await store.commands.putOrganization({ id: ORGANIZATION, name: 'Reef' })
      await store.commands.putGame({ id: '1', name: 'Tidefall', organization_id: ORGANIZATION })
      await store.commands.putUser({ id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW })
      await store.commands.putBenefit({ id: 'b', name: 'Lantern', organization_id: ORGANIZATION })
      const grant = { id, user_id: '1', benefit_id: 'b', game_id: '1', timestamp, timestampGiven: true }
      await store.commands.grantEntitlements({ grants: [grant] })
      for (const [index, now] of [NOW + 1000, NOW - 3_600_000, NOW + 1000, NOW + 1000].entries()) {
        const at = new Date(now).toISOString()
        await store.as(author({ chain: ORGANIZATION, at })).commands.updateEntitlements({
          ids: [id],
          fulfillment_status: index % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
          reach: { organization_id: ORGANIZATION },
          failing: [],
          now,
        })
      }
      const { rows } = await store.audit.changesOf({ id, timestamp }, { first: 10, direction: 'forward' })
      expect(rows.map(each => each.after)).toEqual(['FULFILLED', 'CLAIMED', 'FULFILLED', 'CLAIMED'])
      expect(rows.map(each => each.seq)).toEqual([1, 2, 3, 4])
      expect(await store.audit.verify()).toMatchObject({ rows: 4 })
      for (const table of EMPTIED) await opened.tamper(`delete from ${table}`)
      await empty()
    })

    test('a change of several entitlements is in the history of each, until it is forgotten', async () => {
      const timestamp = new Date(NOW).toISOString()
      const ids = Array.from({ length: 30 }, () => crypto.randomUUID())
      await store.commands.putOrganization({ id: ORGANIZATION, name: 'Reef' })
      await store.commands.putGame({ id: '1', name: 'Tidefall', organization_id: ORGANIZATION })
      await store.commands.putUser({ id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW })
      await store.commands.putBenefit({ id: 'b', name: 'Lantern', organization_id: ORGANIZATION })
      const grant = { user_id: '1', benefit_id: 'b', game_id: '1', timestamp, timestampGiven: true }
      await store.commands.grantEntitlements({ grants: ids.map(id => ({ id, ...grant })) })
      for (let n = 0; n < 100; n += 20) {
        const steps = Array.from({ length: 20 }, (_, k) => {
          return [
            'updateEntitlements',
            {
              ids,
              fulfillment_status: k % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
              reach: { organization_id: ORGANIZATION },
              failing: [],
              now: NOW + (n + k) * 1000 + 1,
            },
          ] as const
        })
        const at = new Date(NOW + n * 1000).toISOString()
        await store.as(author({ chain: ORGANIZATION, at })).commands.runSteps({ steps })
      }
      const changesOf = async (id: string) =>
        (await store.audit.changesOf({ id, timestamp }, { first: 200, direction: 'forward' })).rows
      expect((await changesOf(ids[7] ?? '')).map(row => row.seq)).toEqual(
        Array.from({ length: 100 }, (_, n) => n + 1),
      )
      const before = new Date(NOW + 80_000).toISOString()
      while ((await store.commands.pruneAudit({ before })) > 0);
      expect((await changesOf(ids[7] ?? '')).map(row => row.seq)).toEqual(
        Array.from({ length: 20 }, (_, n) => n + 81),
      )
      expect(await store.audit.verify()).toMatchObject({ rows: 20 })
      await opened.tamper('delete from audit_entitlements where seq = 90')
      expect(await store.audit.verify()).toMatchObject({ flaw: { chain: ORGANIZATION, seq: 90 } })
      for (const table of EMPTIED) await opened.tamper(`delete from ${table}`)
      await empty()
    })

    test('old rows are forgotten from the beginning of a chain, and the rest is still whole', async () => {
      for (let n = 0; n < 1500; n += 100) {
        const steps = Array.from({ length: 100 }, (_, k) => {
          return ['putGame', { id: '1', name: `Game ${n + k}` }] as const
        })
        const at = new Date(NOW + n * 1000).toISOString()
        await store.as(author({ at })).commands.runSteps({ steps })
      }
      await store.as(author({ chain: ORGANIZATION })).commands.putGame({ id: '2', name: 'Old' })
      const before = new Date(NOW + 1200 * 1000).toISOString()
      let forgotten = 0
      for (let count = -1; count !== 0; forgotten += count)
        count = await store.commands.pruneAudit({ before })
      expect(forgotten).toBe(1201)
      expect(await store.audit.verify()).toMatchObject({
        rows: 300,
        heads: [
          { chain: ORGANIZATION, seq: 1 },
          { chain: 'operator', seq: 1500 },
        ],
      })
      expect(await store.audit.size()).toBe(300)
      await opened.tamper(`delete from audit where chain = 'operator' and seq = 1201`)
      expect(await store.audit.verify()).toMatchObject({ flaw: { chain: 'operator', seq: 1201 } })
      await empty()
    })
  })
}

for (const engine of engines) {
  test(`the histories of many rows are read together, on ${engine}`, async () => {
    const place = await createStorePlace(engine)
    const engineOpened = await (place.databaseUrl === undefined
      ? openSqliteEngine(`${place.folder}/strand.db`)
      : openPostgresEngine(place.databaseUrl, { connections: 5, pooled: false }))
    const store = createStore(engineOpened)
    const id = (n: number) => `00000000-0000-4000-8000-${100_000_000_000 + n}`
    await store.commands.runSteps({
      steps: [
        ['putOrganization', { id: 'o', name: 'O' }],
        ['putGame', { id: '1', name: 'G', organization_id: 'o' }],
        ['putBenefit', { id: 'b', name: 'B', organization_id: 'o', game_id: '1' }],
        ['putUser', { id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW }],
      ] as never,
    })
    const timestamp = new Date(NOW).toISOString()
    const grant = { user_id: '1', benefit_id: 'b', game_id: '1', timestamp, timestampGiven: true }
    await store.commands.grantEntitlements({ grants: [1, 2].map(n => ({ ...grant, id: id(n) })) })
    const steps = Array.from({ length: 300 }, (_, n) => [
      'updateEntitlements',
      {
        ids: [id(1), id(2)],
        fulfillment_status: n % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
        reach: { organization_id: 'o' },
        failing: [],
        now: NOW + n,
      },
    ])
    await store.as(author()).commands.runSteps({ steps } as never)
    let statements = 0
    const counted = auditQueries({
      all: query => {
        statements += 1
        return engineOpened.db.all(query)
      },
      get: query => {
        statements += 1
        return engineOpened.db.get(query)
      },
    })
    expect(await counted.verify()).toMatchObject({ rows: 300 })
    expect(statements).toBeLessThan(30)
    await store.close()
    await place.remove()
  })
}
