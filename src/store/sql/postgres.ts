import { SQL } from 'bun'
import type { Eventual } from '../../kit/eventual.ts'
import type { CommandName } from '../commands/index.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { FeedEntry } from '../feed.ts'
import type { Engine } from '../store.ts'
import { postgresFlavor } from './flavors.ts'
import { migrate } from './migrate.ts'
import { runCommand, type Writable } from './run-command.ts'
import { render, type Sql, sql, verbatim } from './tag.ts'

/** Any number that no other program on the same database uses for its advisory locks. */
const MIGRATION_LOCK = 7_382_945
const TRIES = 5
const READ_MILLISECONDS = 5000
/** A write is never cancelled, but its caller is not kept waiting: what became of it is unknown then. */
const WRITE_MILLISECONDS = 10_000

type Queryable = Pick<SQL, 'unsafe'>

/** PostgreSQL: a command is a transaction on the pool, run anew when it met another one. */
export async function openPostgresEngine(url: string, options: { connections: number }): Promise<Engine> {
  const pool = new SQL(url, { max: options.connections, connectionTimeout: 3, idleTimeout: 0 })
  try {
    await migratePostgres(pool)
  } catch (error) {
    await pool.close()
    throw translate(error)
  }
  const reading = database(pool)
  return {
    name: 'postgres',
    db: {
      all: query => within(READ_MILLISECONDS, reading.all(query)),
      get: query => within(READ_MILLISECONDS, reading.get(query)),
    },
    run: (name, args) => within(WRITE_MILLISECONDS, runWithRetries(pool, name, args)),
    close: () => pool.close(),
  }
}

/** Migrates under an advisory lock: nodes that start together do it once. */
export async function migratePostgres(pool: SQL): Promise<number> {
  return pool.begin(async tx => {
    await tx.unsafe(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    return migrate(
      {
        execute: async statements => {
          await tx.unsafe(statements)
        },
        version: async () => {
          const [row] = await tx.unsafe('select coalesce(max(version), 0) as version from schema_versions')
          return row.version
        },
      },
      postgresFlavor,
    )
  })
}

async function runWithRetries(
  pool: SQL,
  name: CommandName,
  args: unknown,
): Promise<{ result: unknown; entries: readonly FeedEntry[] }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await pool.begin(tx => runCommand(database(tx), name, args))
    } catch (thrown) {
      const error = translate(thrown)
      if (!(error instanceof Conflict) || attempt === TRIES) throw error
    }
  }
}

function database(connection: Queryable): Writable {
  const ask = (query: Sql) => {
    const { text, values } = render(query, postgresFlavor)
    return connection.unsafe(text, [...values])
  }
  return {
    all: async <Row>(query: Sql) => [...(await ask(query))] as Row[],
    get: async <Row>(query: Sql) => (await ask(query))[0] as Row | undefined,
    run: async statement => (await ask(statement)).count ?? 0,
    lock: async (query, table) => {
      await ask(sql`${query} for update of ${verbatim(table)}`)
    },
  }
}

async function within<T>(milliseconds: number, work: Eventual<T>): Promise<T> {
  let timer: Timer | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable('PostgreSQL took too long')), milliseconds)
  })
  try {
    return await Promise.race([work, deadline])
  } catch (error) {
    throw translate(error)
  } finally {
    clearTimeout(timer)
  }
}

/** What PostgreSQL and its client throw, in the words of the port. */
function translate(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const state = String(error.errno ?? '')
  if (/^(23505|23503|40001|40P01)$/.test(state)) return new Conflict(error.message)
  const serverRefuses = /^(08|53|57|58|25006|55P03)/.test(state)
  if (serverRefuses || error.code !== 'ERR_POSTGRES_SERVER_ERROR') return new Unavailable(error.message)
  return error
}
