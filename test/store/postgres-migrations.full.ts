import { describe, expect, test } from 'bun:test'
import { MigrationStalled } from '../../src/store/postgres/postgres-migrate.ts'
import { migrations } from '../../src/store/schema/index.ts'
import { engines } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'
import { useMigration } from './postgres-migration.ts'

describe.skipIf(!engines.includes('postgres'))('a migration of PostgreSQL', () => {
  const { use, migrate, leaveOpen, indexIn, lines } = useMigration()

  test('that waits too long for an index is cancelled, and reports for whom it has waited', async () => {
    const client = await use()
    const end = await leaveOpen('select 1 from users', 'isolation level repeatable read')
    const stalled = await migrate(nextMigration, 7000).catch((error: Error) => error)
    expect(stalled).toBeInstanceOf(MigrationStalled)
    expect((stalled as Error).message).toContain('step 2 of 2 (build index entitlements_by_note)')
    expect(lines.some(line => /waiting for old snapshots; process \d+/.test(line))).toBe(true)
    await end()
    expect(await migrate()).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(await indexIn(client)).toMatchObject({ valid: true })
  })

  test('collects statistics of large tables that have none, and of no others', async () => {
    const client = await use()
    const tuplesIn = async (table: string) => {
      const [row] = await client.unsafe(`select reltuples from pg_class where relname = '${table}'`)
      return Number(row.reltuples)
    }
    await client.unsafe('alter table facts set (autovacuum_enabled = false)')
    await client.unsafe(
      `insert into facts (name, value) select 'fact ' || n, repeat('x', 100) from generate_series(1, 20000) n`,
    )
    expect(await tuplesIn('facts')).toBe(-1)
    const newStore = await tuplesIn('users')
    expect(await migrate()).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(await tuplesIn('facts')).toBe(20_000)
    expect(await tuplesIn('users')).toBe(newStore)
    expect(lines).toContain('analyzing facts')
  })
})
