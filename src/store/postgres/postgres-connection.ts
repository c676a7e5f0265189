import { SQL } from 'bun'
import type { Writable } from '../engine/run-command.ts'
import { Conflict, Unavailable } from '../errors.ts'
import { postgresDialect } from '../sql/dialects.ts'
import { isOneOf, type Query, render, sql, verbatim } from '../sql/tag.ts'
import type { StatementResult } from './postgres-transaction.ts'

/** How many parallel chains of the audit log may replace one under concurrent writes. */
const MAX_CHAINS = 16

interface Queryable {
  unsafe(text: string, values: unknown[]): Promise<StatementResult>
}

/** Runs statements on a connection or in a transaction. */
export function postgresDatabase(connection: Queryable): Writable {
  // It aborts the transaction: statements that were sent after it fail because of it, and may be awaited before it.
  let failure: unknown
  const ask = (query: Query) => {
    const { text, values } = render(query, postgresDialect)
    return connection.unsafe(text, [...values]).catch((error: unknown) => {
      failure ??= error
      throw failure
    })
  }
  return {
    all: async <Row>(query: Query) => [...(await ask(query))] as Row[],
    get: async <Row>(query: Query) => (await ask(query))[0] as Row | undefined,
    run: async statement => (await ask(statement)).count ?? 0,
    lock: async (query, table) => {
      // Does not block transactions that only reference such a row.
      await ask(sql`${query} for no key update of ${verbatim(table)}`)
    },
    freeChain: chain => freeChain(ask, chain),
  }
}

/**
 * The first chain whose head is not locked: the requested one, or one of `chain/1`, `chain/2` and so on, which are created
 * when all before them are locked.
 */
async function freeChain(ask: (query: Query) => Promise<StatementResult>, chain: string): Promise<string> {
  const names = [chain, ...Array.from({ length: MAX_CHAINS - 1 }, (_, n) => `${chain}/${n + 1}`)]
  const [free] = (await ask(
    sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)} order by length(chain), chain limit 1 for update skip locked`,
  )) as readonly { chain: string }[]
  if (free !== undefined) return free.chain
  const existing = await ask(sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)}`)
  return names[existing.length] ?? names[Math.floor(Math.random() * names.length)] ?? chain
}

/** Translates errors of PostgreSQL and its client to those of the store. */
export function translatePostgresError(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const state = String(error.errno ?? '')
  if (/^(23505|23503|40001|40P01)$/.test(state)) return new Conflict(error.message)
  const serverRefuses = /^(08|53|57|58|25006|25P03|55000|55P03)/.test(state)
  if (serverRefuses || error.code !== 'ERR_POSTGRES_SERVER_ERROR') return new Unavailable(error.message)
  return error
}

/** Whether a statement waited too long for a row that another transaction has locked. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && String(error.errno) === '55P03'

/** Whether a statement names a table or column that does not exist, as after a migration by a newer version. */
export const isUnknownToServer = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && /^(42P01|42703)$/.test(String(error.errno))
