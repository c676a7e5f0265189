/** A store on PostgreSQL that gets partitions while a node uses it, and what this release and the next do with them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { checkPartitions } from '../../src/maintenance/checks.ts'
import { type Migration, migrations } from '../../src/store/engines/migrations/index.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { type PartitionRun, partitionStore, planPartitions } from '../../src/store/partition-store.ts'
import { type PostgresState, queryServers } from '../../src/store/postgres-server.ts'
import { createStore } from '../../src/store/store.ts'
import { migrateTo } from '../support/migrate-to.ts'
import { nextMigration } from '../support/next-migration.ts'
import {
  createStorePlace,
  engines,
  executeIn,
  type StorePlace,
  startTestServer,
  type TestServer,
} from '../support/server.ts'
import { endAllProcesses, StrandProcess } from '../support/strand-process.ts'

const COUNT = 8
const WEEK = 7 * 24 * 3600 * 1000
const run = (changes: Partial<PartitionRun> = {}): PartitionRun => ({
  count: COUNT,
  now: Date.now(),
  pooled: false,
  ...changes,
})
const TABLES = ['audit', 'audit_entitlements', 'event_deliveries', 'events', 'organization_entitlements']
/** Drops an index that the store has since its migration to compact rows. */
const dropsIndex: Migration = {
  additive: true,
  text: () => 'drop index if exists organization_entitlements_by_status;\n',
}
const openStoreAt = async (url: string) =>
  createStore(await openPostgresEngine(url, { connections: 2, pooled: false }))
const onPostgres = describe.skipIf(!engines.includes('postgres'))

/** Stops a run when it reports its n-th step, as a killed process would. Of the indexes of a table only the first counts. */
class Stopped extends Error {}
function stoppedAt(step: number): Partial<PartitionRun> {
  let reported = 0
  let last = ''
  return {
    report: line => {
      const kind = line.startsWith('build') ? 'build' : line
      if (line.includes(':') || kind === last) return
      last = kind
      if (++reported === step) throw new Stopped(line)
    },
  }
}

/** What `strand doctor` sees of a server. */
async function stateOf(url: string): Promise<PostgresState> {
  const [report] = await queryServers(url)
  if (report === undefined || !('state' in report)) throw new Error('PostgreSQL does not answer')
  return report.state
}

onPostgres('a node', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('postgres')
  })
  afterAll(() => server.stop())

  const url = () => server.databaseUrl ?? ''
  const grant = (count: number) =>
    server.control('POST', '/entitlements', {
      grants: Array.from({ length: count }, () => ({
        user_id: server.world.viewer.id,
        benefit_id: server.world.benefit.id,
        game_id: server.world.game.id,
      })),
    })
  const fulfill = async (ids: readonly string[]) => {
    const answer = await server.call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids: ids, fulfillment_status: 'FULFILLED' },
      token: server.world.client.app_token,
    })
    expect(answer.body.data).toEqual([{ status: 'SUCCESS', ids: [...ids] }])
  }
  const walk = async (query: Record<string, string> = {}) => {
    const rows: { id: string; fulfillment_status: string; timestamp: string }[] = []
    for (let after: string | undefined; ; ) {
      const { body } = await server.call({
        path: '/helix/entitlements/drops',
        query: { first: 100, after, ...query },
        token: server.world.client.app_token,
      })
      rows.push(...body.data)
      after = body.pagination.cursor
      if (after === undefined) return rows
    }
  }

  test('200 keeps reading and writing while its store gets partitions, and loses nothing', async () => {
    // Several batches of the copy.
    await server.execute(`insert into organization_entitlements
      (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
      select e.organization, e.timestamp - n, gen_random_uuid(), e.last_updated, e.benefit, e.fulfilled, e.user_id, e.game_id
      from (select * from organization_entitlements limit 1) e, generate_series(1, 7000) n`)
    const statuses = new Map<string, string>()
    const granted = async (count: number) => {
      const ids: string[] = (await grant(count)).map((row: { id: string }) => row.id)
      for (const id of ids) statuses.set(id, 'CLAIMED')
      return ids
    }
    const early = await granted(100)
    const before = (await server.execute('select count(*)::int as n from organization_entitlements'))[0].n
    let isDone = false
    const write = async (mine: readonly string[]) => {
      for (const old of mine) {
        const added = await granted(2)
        const changed = [old, ...added.slice(0, 1)]
        await fulfill(changed)
        for (const id of changed) statuses.set(id, 'FULFILLED')
        if (isDone) return
      }
    }
    const read = async () => {
      while (!isDone) expect((await walk({ user_id: server.world.viewer.id })).length).toBeGreaterThan(99)
    }
    const work = Promise.all([write(early.slice(0, 50)), write(early.slice(50)), read()])
    const lines: string[] = []
    await partitionStore(url(), run({ report: line => lines.push(line) }))
    isDone = true
    await work
    expect(lines.some(line => line.startsWith('copy'))).toBe(true)

    const kinds = await server.execute(
      `select relname as name from pg_class where relkind = 'p' and relnamespace = 'public'::regnamespace order by 1`,
    )
    expect(kinds.map(row => row.name)).toEqual(TABLES)
    const found = new Map((await walk()).map(row => [row.id, row.fulfillment_status]))
    expect([...statuses].filter(([id, status]) => found.get(id) !== status)).toEqual([])
    const [{ n }] = await server.execute('select count(*)::int as n from organization_entitlements')
    expect(n).toBe(before + statuses.size - early.length)
    const [own] = await server.execute(`select count(*)::int as n from organization_entitlements
      where organization = (select organization from organization_entitlements group by 1 order by count(*) desc limit 1)`)
    expect(found.size).toBe(own.n)
  })

  test('rows are in every partition, and an id is unique across them', async () => {
    const partitions = await server.execute(
      'select tableoid::regclass::text as name, count(*)::int as n from organization_entitlements group by 1',
    )
    expect(partitions.length).toBe(COUNT)
    const again = server.execute(`insert into organization_entitlements
      (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
      select organization, timestamp + 1, id, last_updated, benefit, fulfilled, user_id, game_id
      from organization_entitlements limit 1`)
    expect(again).rejects.toThrow(/duplicate key/)
    await again.catch(() => undefined)
    const foreign = server.execute(`insert into organization_entitlements
      (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
      select organization, timestamp, gen_random_uuid(), last_updated, -1, fulfilled, user_id, game_id
      from organization_entitlements limit 1`)
    expect(foreign).rejects.toThrow(/foreign key/)
    await foreign.catch(() => undefined)
  })

  test('an id leads to one partition, and a page reads along the index of each', async () => {
    await server.execute('analyze organization_entitlements')
    const plan = async (statement: string) =>
      (await server.execute(`explain (costs off) ${statement}`)).map(row => row['QUERY PLAN']).join('\n')
    const [{ id, organization }] = await server.execute(
      'select id, organization from organization_entitlements limit 1',
    )
    const one = await plan(`select * from organization_entitlements where id = '${id}'`)
    expect(one.match(/Scan/g)?.length).toBe(1)
    const page = await plan(`select * from organization_entitlements where organization = ${organization}
      order by timestamp desc, id desc limit 21`)
    expect(page).toContain('Merge Append')
    expect(page.match(/Index Scan Backward/g)?.length).toBe(COUNT)
    const update = await plan(`update organization_entitlements set fulfilled = 1 where id = any('{${id}}')`)
    expect(update.match(/Scan/g)?.length).toBe(1)
    const month = await plan(
      `select * from audit where at >= '2027-02-01T00:00:00.000Z' and at < '2027-02-02T00:00:00.000Z' order by at limit 21`,
    )
    expect(month.match(/audit_\w+/g)?.filter(name => /^audit_(first|default|2027_01)$/.test(name))).toEqual(
      [],
    )
  })

  test('the audit log is intact, and the history of an entitlement complete', async () => {
    expect(await server.strand.services.store.audit.verify()).not.toHaveProperty('flaw')
    const [{ id }] = await grant(1)
    await fulfill([id])
    const { body } = await server.call({
      path: `/control/entitlements/${id}/history`,
      token: server.world.operator_token,
    })
    expect(body.data.length).toBe(2)
  })

  test('a second run has nothing to do, and strand doctor and the metrics know the partitions', async () => {
    expect(await planPartitions(url(), run())).toEqual([])
    const { partitions } = await stateOf(url())
    expect(checkPartitions(partitions, Date.now())).toMatchObject([{ level: 'ok' }])
    expect(checkPartitions(partitions, Date.now() + 20 * WEEK)).toMatchObject([{ level: 'warning' }])
    const tables = await server.strand.services.store.sizes.tables()
    expect(tables.find(({ name }) => name === 'organization_entitlements')?.bytes).toBeGreaterThan(1_000_000)
  })
})

onPostgres('strand partition', () => {
  const places: StorePlace[] = []
  const place = async (list = migrations) => {
    const created = await createStorePlace('postgres', { empty: true })
    places.push(created)
    await migrateTo(created, list)
    return { place: created, url: created.databaseUrl ?? '' }
  }
  afterEach(async () => {
    await endAllProcesses()
    for (const each of places.splice(0)) await each.remove()
  })

  /** Everything that the catalog has of the schema. */
  const schemaIn = (of: StorePlace) =>
    executeIn(
      of,
      `select relname || ' ' || relkind::text as name from pg_class where relnamespace = 'public'::regnamespace
       union all select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
       union all select tgname::text from pg_trigger where not tgisinternal
       union all select proname::text from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
    )

  test('that is interrupted after every step continues, and reports where it is', async () => {
    const { place: at, url } = await place()
    await executeIn(at, 'create index entitlements_by_change on organization_entitlements (last_updated)')
    const before = await schemaIn(at)
    const stops: string[] = []
    let beganWith = ''
    for (let step = 2; ; step++) {
      const [next] = await planPartitions(url, run({ count: 2 }))
      if (next === undefined) break
      // A table that is complete is not among the steps any more.
      if (next.label !== beganWith) step = 2
      beganWith = next.label
      const failed = await partitionStore(url, run({ count: 2, ...stoppedAt(step) })).catch(
        (error: Error) => error,
      )
      if (typeof failed === 'number') break
      expect(failed).toBeInstanceOf(Stopped)
      stops.push(failed.message)
      if (stops.length > 1) continue
      const { partitions } = await stateOf(url)
      expect(checkPartitions(partitions, Date.now())).toMatchObject([{ level: 'warning' }])
      await expect(partitionStore(url, run({ count: 4 }))).rejects.toThrow('begun with 2 partitions, not 4')
    }
    expect(new Set(stops).size).toBeGreaterThan(10)
    expect(await planPartitions(url, run({ count: 2 }))).toEqual([])
    const names = (await schemaIn(at)).map(row => row.name)
    expect(names.filter(name => /partitioned$|_copied|partition_bound/.test(name))).toEqual([])
    // Every index has the name that it had.
    const kept = new Set(names.map(name => name.replace(/ I$/, ' i')))
    expect(before.map(row => row.name).filter(name => / i$/.test(name) && !kept.has(name))).toEqual([])
  })

  test('that is abandoned leaves the store as it was', async () => {
    const { place: at, url } = await place()
    const before = await schemaIn(at)
    // Everything is prepared, and nothing replaced.
    const steps = (await planPartitions(url, run())).filter(({ label }) => !label.startsWith('replace'))
    const client = new SQL(url, { max: 1 })
    for (const { step } of steps)
      for (const statement of step.kind === 'transaction' ? step.statements : [step.statement])
        await client.unsafe(statement)
    await client.close()
    expect((await schemaIn(at)).length).toBeGreaterThan(before.length)
    await partitionStore(url, run({ abandon: true }))
    expect(await schemaIn(at)).toEqual(before)
    expect(await partitionStore(url, run({ abandon: true }))).toBe(0)
  })

  test('that was left alone refuses no row: the next sweep removes its bound in time', async () => {
    const { place: at, url } = await place()
    const stopped = partitionStore(
      url,
      run({
        report: line => {
          if (line.startsWith('check the bound')) throw new Stopped(line)
        },
      }),
    )
    await expect(stopped).rejects.toThrow(Stopped)
    const bounds = () =>
      executeIn(at, "select conname from pg_constraint where conname like '%_partition_bound'")
    expect((await bounds()).length).toBe(2)
    const store = await openStoreAt(url)
    await store.commands.createPartitions({ now: Date.now() })
    expect((await bounds()).length).toBe(2)
    await store.commands.createPartitions({ now: Date.now() + 9 * WEEK })
    expect((await bounds()).length).toBe(0)
    await store.close()
  })

  test('follows the migrations of an earlier release, and those of the next one follow it', async () => {
    const { place: at, url } = await place(migrations.slice(0, 16))
    await executeIn(
      at,
      "insert into users (id, login, display_name, created_at) values ('1', 'reef', 'Reef', '2026-01-01T00:00:00.000Z')",
    )
    await executeIn(at, "insert into organizations (id, name) values ('o', 'Reef')")
    await executeIn(at, "insert into games (id, name) values ('7', 'Tidefall')")
    await executeIn(at, "insert into benefits (id, name, organization_id) values ('b', 'Lantern', 'o')")
    await executeIn(
      at,
      `insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
      select gen_random_uuid(), 'o', 'b', '1', '7', '2026-03-01T00:00:00.000Z', 'CLAIMED', '2026-03-01T00:00:00.000Z' from generate_series(1, 100)`,
    )
    await expect(partitionStore(url, run())).rejects.toThrow('run strand migrate first')
    await migrateTo(at)
    await partitionStore(url, run())
    await migrateTo(at, [...migrations, nextMigration, dropsIndex])
    const [{ n }] = await executeIn(at, 'select count(note is null)::int as n from organization_entitlements')
    expect(n).toBe(100)
    const parts = await executeIn(
      at,
      `select c.relname as name, x.indisvalid as valid from pg_inherits i
      join pg_class c on c.oid = i.inhrelid join pg_index x on x.indexrelid = c.oid
      where i.inhparent = to_regclass('entitlements_by_note')`,
    )
    expect(parts.length).toBe(COUNT)
    expect(parts.every(part => part.valid)).toBe(true)
    expect(parts.map(part => part.name)).toContain('entitlements_by_note_7')
    expect(
      await executeIn(at, "select 1 from pg_class where relname like 'organization_entitlements%_by_user'"),
    ).toEqual([])
  })

  test('prints its statements, asks, runs as a command, and refuses the embedded store', async () => {
    const { place: at, url } = await place()
    const strand = async (...words: string[]) => {
      const child = new StrandProcess(['partition', ...words], {
        environment: { DATABASE_URL: url, STRAND_DATA: at.folder },
      })
      return { code: await child.exit(), stdout: child.stdout, stderr: child.stderr }
    }
    const before = await schemaIn(at)
    const printed = await strand('--dry-run', '--count', '3')
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout).toContain('with (modulus 3, remainder 2);')
    expect(await strand('--count', '1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('invalid --count'),
    })
    expect(await strand()).toMatchObject({ code: 2, stderr: expect.stringContaining('Confirm with --yes.') })
    expect(await schemaIn(at)).toEqual(before)
    const ran = await strand('--count', '3', '--yes')
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The store has partitions: \d+ steps\.\n$/),
    })
    expect(ran.stderr).toContain('copy organization_entitlements\n')
    expect(await strand('--json')).toMatchObject({ code: 0, stdout: '{"steps":0}\n' })
    const embedded = new StrandProcess(['partition', '--yes'], { environment: { STRAND_DATA: at.folder } })
    expect(await embedded.exit()).toBe(1)
    expect(embedded.stderr).toContain('the embedded store has no partitions')
  })
})
