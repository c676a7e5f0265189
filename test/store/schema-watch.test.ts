/** A newer version migrates the store, and this program cannot serve it any more. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { SchemaState } from '../../src/store/engine/schema-state.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { SchemaWatch } from '../../src/store/postgres/schema-watch.ts'
import { type Migration, migrations } from '../../src/store/schema/index.ts'
import { createStorePlace, engines, executeIn, startTestServer } from '../support/server.ts'
import { migrateTo } from '../support/store/migrate-to.ts'
import { nextMigration } from '../support/store/next-migration.ts'

const breaking: Migration = {
  additive: false,
  text: () => 'alter table organization_entitlements rename to moved_entitlements;',
}
const NEXT = migrations.length + 1

test.skipIf(!engines.includes('postgres'))(
  '503 from a node of the previous version after a migration that is not additive, with the reason in its log',
  async () => {
    const server = await startTestServer('postgres')
    const { call, world, logLines } = server
    const list = { path: '/helix/entitlements/drops', token: world.client.app_token }
    expect((await call(list)).status).toBe(200)
    const reported: string[] = []
    await migratePostgres(() => new SQL(server.databaseUrl ?? '', { max: 1 }), {
      migrations: [...migrations, breaking],
      report: line => reported.push(line),
    })
    expect(reported[0]).toBe(
      `migration ${NEXT} is not additive: nodes of earlier versions cannot use the store any more; replace them`,
    )

    const refused = await call(list)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    const update = {
      method: 'PATCH' as const,
      body: { entitlement_ids: ['a'], fulfillment_status: 'FULFILLED' },
    }
    expect((await call({ ...list, ...update })).status).toBe(503)
    expect((await call({ path: '/readyz' })).status).toBe(503)
    const lines = logLines.filter(line => line.includes('the schema of the store was changed'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(
      `the store has schema ${NEXT} and this program knows ${migrations.length}: use a newer version of Strand`,
    )

    await server.execute('alter table moved_entitlements rename to organization_entitlements')
    await server.execute(`delete from schema_versions where version = ${NEXT}`)
    await server.stop()
  },
)

test('work is refused from the check that finds a schema which cannot be served to the one that finds another', async () => {
  const known = migrations.length
  let state: SchemaState = { version: known, known, verdict: 'current' }
  const watch = new SchemaWatch(async () => state, undefined)
  for (const verdict of ['current', 'compatible'] as const) {
    state = { ...state, verdict }
    await watch.check()
    expect(() => watch.require()).not.toThrow()
  }
  for (const verdict of ['newer', 'behind', 'edited'] as const) {
    state = { ...state, verdict }
    await watch.check()
    expect(() => watch.require()).toThrow(Unavailable)
  }
  state = { ...state, verdict: 'current' }
  await watch.check()
  expect(() => watch.require()).not.toThrow()
  await watch.stop()
})

describe('an embedded store that a server has open', () => {
  const whileOpen = async (next: Migration, then: (migrating: Promise<void>) => unknown) => {
    const place = await createStorePlace('sqlite', { empty: true })
    await migrateTo(place)
    const server = new Database(`${place.folder}/strand.db`)
    server.query('select 1 from users').all()
    await then(migrateTo(place, [...migrations, next]))
    server.close()
    await migrateTo(place, [...migrations, next])
    const [{ version }] = await executeIn(place, 'select max(version) as version from schema_versions')
    expect(version).toBe(NEXT)
    await place.remove()
  }

  test('gets no migration that is not additive until the server has stopped', () =>
    whileOpen(breaking, migrating =>
      expect(migrating).rejects.toThrow(`migration ${NEXT} is not additive, and another process`),
    ))

  test('gets additive ones', () =>
    whileOpen(nextMigration, migrating => expect(migrating).resolves.toBeUndefined()))
})
