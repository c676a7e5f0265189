import { afterEach } from 'bun:test'
import { SQL } from 'bun'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { type Migration, migrations } from '../../src/store/schema/index.ts'
import { createStorePlace, type StorePlace } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'

/** A PostgreSQL that tests migrate, and what stands in the way of that. Every test has a new one, once it calls `use`. */
export function useMigration() {
  let place: StorePlace | undefined
  const clients: SQL[] = []
  const lines: string[] = []
  const connect = () => {
    const client = new SQL(place?.databaseUrl ?? '', { max: 1 })
    clients.push(client)
    return client
  }
  const migrate = (next: Migration = nextMigration, maxWait = 60_000) =>
    migratePostgres(connect, {
      migrations: [...migrations, next],
      report: line => lines.push(line),
      maxWait,
    })
  const use = async () => {
    place = await createStorePlace('postgres')
    return connect()
  }
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close({ timeout: 0 }).catch(() => undefined)
    lines.length = 0
    await place?.remove()
    place = undefined
  })
  /** A transaction that stays open behind its one statement until it is stopped. */
  const leaveOpen = async (statement: string, mode = 'read write') => {
    const client = connect()
    const release = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const ended = client.begin(mode, async tx => {
      await tx.unsafe(statement)
      held.resolve()
      await release.promise
    })
    await held.promise
    return async () => {
      release.resolve()
      await ended
    }
  }
  const until = async (look: () => Promise<unknown> | unknown) => {
    while (!(await look())) await Bun.sleep(10)
  }
  const indexIn = async (client: SQL): Promise<{ valid: boolean } | undefined> => {
    const [index] = await client.unsafe(
      "select indisvalid as valid from pg_index where indexrelid = to_regclass('entitlements_by_note')",
    )
    return index
  }

  return { use, migrate, leaveOpen, indexIn, until, lines }
}
