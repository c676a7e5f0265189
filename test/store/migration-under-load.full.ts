/**
 * A migration beside a transaction that was left open, and beside load: no caller waits for it. The number of rows is
 * TEST_MIGRATION_ROWS if that is set.
 */
import { afterEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { migrations } from '../../src/store/schema/index.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'

const ROWS = Number(process.env.TEST_MIGRATION_ROWS || 100_000)
const OPEN_MILLISECONDS = 5000
const MAX_WAIT_MILLISECONDS = 2000

let server: TestServer | undefined
const clients: SQL[] = []
function connect(): SQL {
  const client = new SQL(server?.databaseUrl ?? '', { max: 1 })
  clients.push(client)
  return client
}
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close({ timeout: 0 })
  await server?.stop()
})

/** Asks without a pause until it is stopped. */
class Load {
  longest = 0
  answered = 0
  readonly failures: string[] = []
  #goesOn = true
  readonly #loops: Promise<void>[]

  constructor(asks: readonly (() => Promise<{ status: number; text: string }>)[]) {
    this.#loops = asks.map(ask => this.#loop(ask))
  }

  async end(): Promise<void> {
    this.#goesOn = false
    await Promise.all(this.#loops)
  }

  async #loop(ask: () => Promise<{ status: number; text: string }>): Promise<void> {
    while (this.#goesOn) {
      const began = performance.now()
      const { status, text } = await ask()
      this.longest = Math.max(this.longest, performance.now() - began)
      this.answered += 1
      if (status !== 200) this.failures.push(`${status} ${text}`)
      await Bun.sleep(5)
    }
  }
}

test.skipIf(!engines.includes('postgres'))(
  `adds a column and an index to ${ROWS} entitlements, and no request waits longer than 2 s`,
  async () => {
    server = await startTestServer('postgres')
    const { call, world } = server
    const setUp = connect()
    const [entitlement] = await setUp.unsafe(
      `select e.* from organization_entitlements e join entitlement_organizations o on o.number = e.organization
         join clients c on c.organization_id = o.organization_id where c.id = $1 limit 1`,
      [world.client.id],
    )
    const { organization, benefit, game_id } = entitlement
    await setUp.unsafe(
      `insert into organization_entitlements (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
         select $1, 1767225600000 + n, gen_random_uuid(), 1767225600000 + n, $2, 0, (n % 1000)::text, $3
         from generate_series(1, ${ROWS}) as n`,
      [organization, benefit, game_id],
    )
    await setUp.unsafe('analyze organization_entitlements')
    const ids: string[] = (
      await setUp.unsafe(
        'select id from organization_entitlements where organization = $1 order by id desc limit 20',
        [organization],
      )
    ).map((row: { id: string }) => row.id)
    const token = world.client.app_token
    const path = '/helix/entitlements/drops'
    const load = new Load([
      () => call({ path, token }),
      () => call({ path, token, query: { fulfillment_status: 'CLAIMED' } }),
      () => call({ path: '/helix/streams' }),
      ...[0, 5, 10, 15].map(
        from => () =>
          call({
            method: 'PATCH',
            path,
            token,
            body: { entitlement_ids: ids.slice(from, from + 5), fulfillment_status: 'FULFILLED' },
          }),
      ),
    ])

    const leftOpen = connect()
    const closed = leftOpen.begin(async tx => {
      await tx.unsafe('update organization_entitlements set last_updated = last_updated where id = $1', [
        entitlement.id,
      ])
      await Bun.sleep(OPEN_MILLISECONDS)
    })
    await Bun.sleep(1000)
    // What requests wait for without a migration: less than a tenth of what is allowed, unless the machine is busy.
    const usual = load.longest
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    const migrated = await migratePostgres(connect, { migrations: [...migrations, nextMigration] })
    expect(isClosed).toBe(true)
    expect(migrated).toEqual({ version: migrations.length + 1, applied: 1 })
    await load.end()
    if (process.env.TEST_MIGRATION_ROWS) {
      process.stderr.write(
        `${ROWS} rows: ${load.answered} requests, the longest took ${Math.round(load.longest)} ms\n`,
      )
    }
    expect(load.failures.slice(0, 3)).toEqual([])
    expect(load.answered).toBeGreaterThan(100)
    expect(load.longest).toBeLessThan(Math.max(MAX_WAIT_MILLISECONDS, 10 * usual))
    const [index] = await setUp.unsafe(
      "select indisvalid as valid from pg_index where indexrelid = to_regclass('entitlements_by_note')",
    )
    expect(index).toMatchObject({ valid: true })
  },
  900_000,
)
