/**
 * A store whose entitlements were partitioned by hand, with the statement of docs/very-large-stores.md, before the first node
 * started. Strand runs on it unchanged.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { migrations } from '../../src/store/schema/index.ts'
import { Installation, runStrand } from '../maintenance/installation.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { nextMigration } from '../support/store/next-migration.ts'
import {
  createScratchFolder,
  createSystemPostgres,
  executeAt,
  hasSystemPostgres,
  removeScratchFolder,
  runShell,
  type SystemPostgres,
} from '../support/store/system-postgres.ts'

const PARTITIONS = 8
const GRANTS = 400

if (!hasSystemPostgres) {
  process.stderr.write('\n!!! SKIPPED: partitions by hand. No PostgreSQL has all its programs.\n\n')
}

const documented = (file: string, language: string) =>
  readFileSync(file, 'utf8').match(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``))?.[1] ?? ''

interface Entitlement {
  readonly id: string
  readonly benefit_id: string
  readonly timestamp: string
  readonly user_id: string
  readonly game_id: string
  readonly fulfillment_status: string
}

describe.skipIf(!hasSystemPostgres)('on entitlements that were partitioned by hand', () => {
  const scratch = createScratchFolder()
  const folder = join(scratch, 'strand')
  let postgres: SystemPostgres
  let url: string
  let strand: Installation
  const stored = new Map<string, Entitlement>()
  const owners: { organization: string; benefits: string[]; games: string[]; token: string }[] = []
  const users = ['1001', '1002', '1003']

  const indexesIn = (database: string) =>
    executeAt(
      database,
      `select c.relname as name, i.indisunique as unique from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = 'organization_entitlements'::regclass order by 1`,
    )

  beforeAll(async () => {
    postgres = await createSystemPostgres(join(scratch, 'pg'))
    await executeAt(postgres.url, 'create database strand')
    url = postgres.url.replace(/postgres$/, 'strand')
    expect((await runStrand(['migrate', '--data', folder], { DATABASE_URL: url })).code).toBe(0)
    const before = await indexesIn(url)
    await executeAt(url, documented('docs/very-large-stores.md', 'sql'))
    expect(await indexesIn(url)).toEqual(before)
    strand = await Installation.start(folder, { DATABASE_URL: url })
    for (const id of users) await strand.control('PUT', `/users/${id}`, { login: `user_${id}` })
    for (const [n, name] of ['Harbor', 'Reef'].entries()) {
      const [organization] = (await strand.control('POST', '/organizations', { name })).data
      const games = [`${n}1`, `${n}2`].map(digits => `47${digits}`)
      for (const game of games)
        await strand.control('PUT', `/games/${game}`, {
          name: `Game ${game}`,
          organization_id: organization.id,
        })
      const benefits: string[] = []
      for (const what of ['Hat', 'Lamp'])
        benefits.push(
          (await strand.control('POST', '/benefits', { name: what, organization_id: organization.id }))
            .data[0].id,
        )
      const [client] = (
        await strand.control('POST', '/clients', { name: 'Back end', organization_id: organization.id })
      ).data
      const [token] = (await strand.control('POST', '/tokens', { client_id: client.id })).data
      owners.push({ organization: organization.id, benefits, games, token: token.access_token })
    }
  })
  afterAll(async () => {
    await endAllProcesses()
    await postgres?.stop()
    removeScratchFolder(scratch)
  })

  const keep = (rows: readonly Entitlement[]) => {
    for (const row of rows) stored.set(row.id, row)
  }
  const owner = (n: number) => owners[n] as (typeof owners)[number]
  const newestFirst = () =>
    [...stored.values()].sort((a, b) => (`${a.timestamp} ${a.id}` < `${b.timestamp} ${b.id}` ? 1 : -1))

  /** Every combination of the filters, on the API of clients and on that of the operator, beside what was granted. */
  async function requireLists(server: Installation): Promise<void> {
    const query = (filter: Partial<Entitlement>) =>
      Object.entries(filter)
        .map(([name, value]) => `${name}=${value}&`)
        .join('')
    const either = <T>(...values: readonly T[]) => [undefined, ...values]
    let lists = 0
    for (const { organization, benefits, games, token } of owners)
      for (const user_id of either(...users.slice(0, 2)))
        for (const game_id of either(...games))
          for (const fulfillment_status of either('CLAIMED', 'FULFILLED')) {
            const given = {
              ...(user_id && { user_id }),
              ...(game_id && { game_id }),
              ...(fulfillment_status && { fulfillment_status }),
            }
            const fits = (filter: Partial<Entitlement>) =>
              newestFirst().filter(
                row =>
                  benefits.includes(row.benefit_id) &&
                  Object.entries(filter).every(([name, value]) => row[name as keyof Entitlement] === value),
              )
            expect(await server.all(token, `/helix/entitlements/drops?${query(given)}`)).toEqual(fits(given))
            const operator = readFileSync(join(folder, 'operator-token'), 'utf8').trim()
            for (const benefit_id of either(...benefits.slice(0, 1))) {
              const filter = { ...given, ...(benefit_id && { benefit_id }) }
              const path = `/control/entitlements?organization_id=${organization}&${query(filter)}`
              expect(await server.all(operator, path)).toEqual(fits(filter))
              lists += 1
            }
          }
    expect(lists).toBe(108)
    const some = newestFirst()
      .filter(row => owner(0).benefits.includes(row.benefit_id))
      .slice(0, 50)
    const ids = some.map(row => `id=${row.id}`).join('&')
    expect((await server.call(owner(0).token, 'GET', `/helix/entitlements/drops?${ids}`)).data).toEqual(some)
  }

  test('grants reach every partition, a repeated one changes nothing, and an id is unique in all of them', async () => {
    const grants = Array.from({ length: GRANTS }, (_, n) => {
      const { benefits, games } = owner(n % 2)
      return {
        id: crypto.randomUUID(),
        user_id: users[n % 3] ?? '',
        benefit_id: benefits[(n >> 1) % 2] ?? '',
        game_id: games[(n >> 2) % 2] ?? '',
        // Some have the same time.
        timestamp: new Date(1_770_000_000_000 + (n >> 1) * 1000).toISOString(),
      }
    })
    const granted = (await strand.control('POST', '/entitlements', { grants })).data
    keep(granted)
    expect(stored.size).toBe(GRANTS)
    expect((await strand.control('POST', '/entitlements', { grants })).data).toEqual(granted)
    const [first] = grants
    await expect(
      strand.control('POST', '/entitlements', {
        grants: [{ ...first, timestamp: '2026-01-01T00:00:00.000Z' }],
      }),
    ).rejects.toThrow('409')
    const parts = await executeAt(
      url,
      'select tableoid::regclass::text as name, count(*)::int as rows from organization_entitlements group by 1',
    )
    expect(parts).toHaveLength(PARTITIONS)
    expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(GRANTS)
  })

  test('lists are complete and in order with every combination of filters, before and after updates', async () => {
    await requireLists(strand)
    for (const { benefits, token } of owners) {
      const entitlement_ids = newestFirst()
        .filter((row, n) => n % 3 === 0 && benefits.includes(row.benefit_id))
        .slice(0, 60)
        .map(row => row.id)
      const { data } = await strand.call(token, 'PATCH', '/helix/entitlements/drops', {
        entitlement_ids,
        fulfillment_status: 'FULFILLED',
      })
      expect(data).toEqual([{ status: 'SUCCESS', ids: entitlement_ids }])
      for (const id of entitlement_ids) keep((await strand.control('GET', `/entitlements/${id}`)).data)
    }
    expect([...stored.values()].filter(row => row.fulfillment_status === 'FULFILLED').length).toBeGreaterThan(
      90,
    )
    await requireLists(strand)
  })

  test('a page reads along an index of each partition, and an id one partition', async () => {
    await using client = new SQL(url, { max: 1 })
    const undone = new Error('the rows were only for the plans')
    const examine = client.begin(async tx => {
      await tx.unsafe(`insert into organization_entitlements
        select organization, timestamp - n, gen_random_uuid(), last_updated, benefit, fulfilled, user_id, game_id
        from (select * from organization_entitlements limit 1) e, generate_series(1, 20000) n`)
      await tx.unsafe('analyze organization_entitlements')
      const plan = async (statement: string): Promise<string> =>
        (await tx.unsafe(`explain (costs off) ${statement}`))
          .map((row: Record<string, string>) => row['QUERY PLAN'])
          .join('\n')
      const [{ organization, at }] = await tx.unsafe(
        'select organization, max(timestamp) as at from organization_entitlements group by 1 order by count(*) desc limit 1',
      )
      const page = await plan(`select * from organization_entitlements where organization = ${organization}
        and (timestamp, id) < (${at}, '${crypto.randomUUID()}') order by timestamp desc, id desc limit 21`)
      expect(page).toContain('Merge Append')
      expect(page.match(/Index Scan Backward/g)).toHaveLength(PARTITIONS)
      const one = await plan(`select * from organization_entitlements where id = '${crypto.randomUUID()}'`)
      expect(one.match(/ Scan /g)).toHaveLength(1)
      throw undone
    })
    await expect(examine).rejects.toBe(undone)
  })

  test('histories and the audit log are complete, and strand doctor finds nothing', async () => {
    const fulfilled = newestFirst().find(row => row.fulfillment_status === 'FULFILLED')
    const history = (await strand.control('GET', `/entitlements/${fulfilled?.id}/history`)).data
    expect(history.map((each: { to: string }) => each.to)).toEqual(['CLAIMED', 'FULFILLED'])
    const settings = { DATABASE_URL: url }
    expect((await runStrand(['audit', 'verify', '--data', folder], settings)).code).toBe(0)
    const doctor = await runStrand(
      ['doctor', '--json', '--data', folder, '--listen', 'localhost:0'],
      settings,
    )
    const problems = JSON.parse(doctor.stdout).findings.filter(
      (each: { level: string }) => each.level === 'problem',
    )
    expect(problems.map((each: { message: string }) => each.message)).toEqual([
      'fsync is off: a power failure can destroy the database',
    ])
  })

  test('an export is imported into a new store, and into this one without a change', async () => {
    const file = join(folder, 'world.ndjson')
    const there = { DATABASE_URL: url }
    expect((await runStrand(['export', file, '--data', folder], there)).code).toBe(0)
    const lines = readFileSync(file, 'utf8')
    expect(lines.match(/"type":"entitlement"/g)).toHaveLength(GRANTS)
    const again = await runStrand(['import', file, '--data', folder, '--json'], there)
    expect(again).toMatchObject({ code: 0 })
    const elsewhere = join(scratch, 'elsewhere')
    expect((await runStrand(['import', file, '--data', elsewhere])).code).toBe(0)
    const copy = join(folder, 'copy.ndjson')
    expect((await runStrand(['export', copy, '--data', elsewhere])).code).toBe(0)
    const entitlements = (text: string) =>
      text
        .split('\n')
        .filter(line => line.includes('"type":"entitlement"'))
        .sort()
    expect(entitlements(readFileSync(copy, 'utf8'))).toEqual(entitlements(lines))
    await requireLists(strand)
  })

  test('a dump is restored with its partitions, and served', async () => {
    const restored = url.replace(/strand$/, 'strand_restored')
    const [, section = ''] = readFileSync('docs/backup.md', 'utf8').split('### pg_dump\n')
    const lines = section.match(/```sh\n([\s\S]*?)```/)?.[1] ?? ''
    runShell(scratch, lines, { DATABASE_URL: url, RESTORED_URL: restored })
    const again = await Installation.start(folder, { DATABASE_URL: restored })
    await requireLists(again)
    expect(await again.process.end('SIGTERM')).toBe(0)
    const [{ partitions }] = await executeAt(
      restored,
      `select count(*)::int as partitions from pg_inherits where inhparent = 'organization_entitlements'::regclass`,
    )
    expect(partitions).toBe(PARTITIONS)
  })

  test('the migration of a later release finds the index that was built by hand', async () => {
    const migrate = () =>
      migratePostgres(() => new SQL(url, { max: 1 }), { migrations: [...migrations, nextMigration] })
    // Without it, PostgreSQL refuses, and the node continues.
    await expect(migrate()).rejects.toThrow('concurrently')
    await requireLists(strand)
    for (let n = 0; n < PARTITIONS; n++)
      await executeAt(
        url,
        `create index concurrently entitlements_by_note_${n} on organization_entitlements_${n} (note, timestamp, id)`,
      )
    await executeAt(
      url,
      'create index entitlements_by_note on organization_entitlements (note, timestamp, id)',
    )
    expect(await migrate()).toMatchObject({ applied: 1 })
    await requireLists(strand)
    expect(await strand.process.end('SIGTERM')).toBe(0)
  })
})
