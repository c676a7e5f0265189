import { SQL } from 'bun'
import type { Author } from '../../domain/audit.ts'
import { hostUrls } from '../../kit/connection-url.ts'
import { inTime } from '../../kit/in-time.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { requestScope } from '../../kit/request-scope.ts'
import type { CommandName } from '../command-list.ts'
import type { Database } from '../database.ts'
import type { CommandOutcome, Engine } from '../engine.ts'
import { Conflict, Overloaded, Unavailable } from '../errors.ts'
import { postgresDialect } from '../sql/dialects.ts'
import { isOneOf, render, type Sql, sql, verbatim } from '../sql/tag.ts'
import { type ConnectionPool, isTooManyConnections, TooManyConnections } from './connection-pool.ts'
import { writeMilliseconds } from './deadlines.ts'
import type { Migrated, SchemaOptions } from './migrate.ts'
import { migratePostgres, postgresSchema } from './postgres-migrate.ts'
import {
  LOCK_MILLISECONDS,
  type PoolOptions,
  type Pools,
  poolsOf,
  READ_MILLISECONDS,
} from './postgres-pools.ts'
import { Primary } from './postgres-primary.ts'
import { runCommand, type Writable } from './run-command.ts'
import { requireServable } from './schema-state.ts'

/** How many parallel chains of the audit log may replace one under concurrent writes. */
const MAX_CHAINS = 16
const MAX_ATTEMPTS = 5
/** A commit that took longer has waited for a standby, and is verified. */
const SLOW_COMMIT_MILLISECONDS = 300
/** How long a migration tries to get its connections from a server that accepts no more. */
const CONNECT_MILLISECONDS = 5000
const CONNECT_PAUSE_MILLISECONDS = 50

/**
 * Commands that may be lost in a crash: leased points are then full again. Their commits wait neither for the disk nor for a
 * standby, and they have a separate connection.
 */
const NOT_DURABLE: ReadonlySet<CommandName> = new Set(['leasePoints'])

type Queryable = Pick<SQL, 'unsafe'>

/**
 * PostgreSQL: a command is a transaction on the primary, retried after a conflict. Queries go to the primary too, because a
 * standby may lack what was just acknowledged.
 */
export async function openPostgresEngine(url: string, options: PoolOptions & SchemaOptions): Promise<Engine> {
  const primary = new Primary(hostUrls(url), options)
  const schema = await primary
    .pools()
    .then(pools => prepareSchema(pools, options))
    .catch(async error => {
      await primary.close()
      throw translate(error)
    })
  const counts = { retries: 0, refused: { reads: 0, writes: 0 } }
  const read = <T>(work: (pools: Pools) => Promise<T>) =>
    onPrimary(primary, READ_MILLISECONDS, work).catch(countRefusal(counts.refused, 'reads'))
  const onRetry = () => {
    counts.retries += 1
  }
  return {
    name: 'postgres',
    schema,
    db: databaseOf(query => read(pools => readQueued(pools, query))),
    reserved: databaseOf(query => read(pools => readReserved(pools, query))),
    snapshot: work => readSnapshot(primary, work),
    run: (name, args, author) =>
      onPrimary(primary, writeMilliseconds(name), ({ writing, leasing }) =>
        runWithRetries(
          NOT_DURABLE.has(name) ? leasing : writing,
          options.pooled,
          { name, args, author },
          onRetry,
        ),
      ).catch(countRefusal(counts.refused, 'writes')),
    // Readiness depends on a query only.
    unavailableReason: () => undefined,
    measure: metrics => {
      primary.measure(metrics)
      measureWork(metrics, counts)
    },
    close: () => primary.close(),
  }
}

async function prepareSchema(pools: Pools, { migrate, report }: SchemaOptions): Promise<Migrated> {
  if (migrate === false) {
    const { version } = requireServable(await pools.reading.run(postgresSchema))
    return { version, applied: 0 }
  }
  const connections = await connectForMigration(pools)
  try {
    return await migratePostgres(
      () => connections.shift() ?? connectWithoutTimeouts(pools),
      report && { report },
    )
  } finally {
    for (const connection of connections) await connection.close({ timeout: 1 })
  }
}

/** Connections of the pools have timeouts, which a migration must not have. */
const connectWithoutTimeouts = (pools: Pools): SQL =>
  pools.connectSeparately({ statement_timeout: 0, lock_timeout: 0 })

/**
 * The two connections that a migration needs. If the server accepts no more, idle connections of the pools are closed; the
 * server may take a while to notice that.
 */
async function connectForMigration(pools: Pools): Promise<SQL[]> {
  const deadline = performance.now() + CONNECT_MILLISECONDS
  for (;;) {
    const connections = [connectWithoutTimeouts(pools), connectWithoutTimeouts(pools)]
    const outcomes = await Promise.allSettled(connections.map(connection => connection.connect()))
    const failure = outcomes.find(outcome => outcome.status === 'rejected')
    if (failure === undefined) return connections
    await Promise.all(connections.map(connection => connection.close({ timeout: 0 }).catch(() => undefined)))
    if (!isTooManyConnections(failure.reason) || performance.now() > deadline) throw failure.reason
    for (const pool of poolsOf(pools)) pool.closeIdle()
    await Bun.sleep(CONNECT_PAUSE_MILLISECONDS)
  }
}

/** A database whose queries run on a connection that `run` provides. */
function databaseOf(run: <T>(read: (connection: SQL) => Promise<T>) => Promise<T>): Database {
  return {
    all: query => run(async connection => database(connection).all(query)),
    get: query => run(async connection => database(connection).get(query)),
  }
}

/**
 * The first read of a request is queued or refused. Its later reads go first, so that a request is not refused halfway. So do
 * reads outside requests: they are few, and they fill caches that all requests depend on.
 */
async function readQueued<T>({ reading }: Pools, read: (connection: SQL) => Promise<T>): Promise<T> {
  const scope = requestScope()
  const answer = await reading.run(read, { urgent: scope?.hasRead ?? true })
  if (scope !== undefined) scope.hasRead = true
  return answer
}

/** Uses the reserved connection; if the server did not accept it, an urgent read on the others. */
async function readReserved<T>(
  { reserved, reading }: Pools,
  read: (connection: SQL) => Promise<T>,
): Promise<T> {
  try {
    return await reserved.run(read)
  } catch (error) {
    if (!(error instanceof TooManyConnections)) throw error
    return reading.run(read, { urgent: true })
  }
}

const countRefusal =
  (refused: { reads: number; writes: number }, work: 'reads' | 'writes') =>
  (error: unknown): never => {
    if (error instanceof Overloaded) refused[work] += 1
    throw error
  }

function measureWork(
  metrics: Metrics,
  { retries, refused }: { retries: number; refused: { reads: number; writes: number } },
): void {
  metrics.counter(
    'strand_postgres_reads_refused_total',
    'Reads refused because too many were waiting for a connection.',
    refused.reads,
  )
  metrics.counter(
    'strand_postgres_writes_refused_total',
    'Writes refused because too many were waiting for a connection.',
    refused.writes,
  )
  metrics.counter('strand_postgres_reruns_total', 'Transactions retried after a conflict.', retries)
}

/** Does the work on the primary. If that fails because of the server, all servers are probed again. */
async function onPrimary<T>(
  primary: Primary,
  milliseconds: number,
  work: (pools: Pools) => Promise<T>,
): Promise<T> {
  const began = performance.now()
  const pools = await primary.pools()
  try {
    // The time to find the primary counts.
    const answer = await inTime(milliseconds - (performance.now() - began), work(pools), () => {
      throw new Unavailable('PostgreSQL took too long')
    })
    primary.noteSuccess(pools)
    return answer
  } catch (thrown) {
    const error = translate(thrown)
    // Work refused by the pool does not indicate a problem of the server.
    if (error instanceof Unavailable && !(error instanceof Overloaded)) primary.noteFailure(pools)
    throw error
  }
}

/** The snapshot is taken by the first query. */
async function readSnapshot<T>(primary: Primary, read: (db: Database) => Promise<T>): Promise<T> {
  const { connectSeparately } = await primary.pools()
  const connection = connectSeparately()
  try {
    return await connection.begin('isolation level repeatable read read only', tx => read(database(tx)))
  } catch (thrown) {
    throw translate(thrown)
  } finally {
    await connection.close({ timeout: 1 })
  }
}

interface Job {
  readonly name: CommandName
  readonly args: unknown
  readonly author: Author | undefined
}

function runWithRetries(
  pool: ConnectionPool,
  pooled: boolean,
  job: Job,
  onRetry: () => void,
): Promise<CommandOutcome> {
  return pool.run(async connection => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runOnce(connection, pooled, job)
      } catch (thrown) {
        if (!(translate(thrown) instanceof Conflict) || attempt === MAX_ATTEMPTS) throw thrown
        onRetry()
      }
    }
  })
}

async function runOnce(connection: SQL, pooled: boolean, { name, args, author }: Job) {
  const isDurable = !NOT_DURABLE.has(name)
  let finishedAt = Number.POSITIVE_INFINITY
  const outcome = await connection.begin(async tx => {
    if (pooled) await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
    if (!isDurable) await tx.unsafe('set local synchronous_commit = off')
    const outcome = await runCommand(database(tx), name, args, author)
    finishedAt = performance.now()
    return outcome
  })
  if (isDurable && performance.now() - finishedAt > SLOW_COMMIT_MILLISECONDS) await confirmCommit(connection)
  return outcome
}

/**
 * If a commit is cancelled while it waits for a standby, PostgreSQL reports success with a warning that our client does not
 * expose. The log is replicated in order: once a later commit has been replicated, so have all before it.
 */
async function confirmCommit(connection: SQL): Promise<void> {
  await connection.unsafe('update feed_head set id = 1 where id = 1')
}

function database(connection: Queryable): Writable {
  const ask = (query: Sql) => {
    const { text, values } = render(query, postgresDialect)
    return connection.unsafe(text, [...values])
  }
  return {
    all: async <Row>(query: Sql) => [...(await ask(query))] as Row[],
    get: async <Row>(query: Sql) => (await ask(query))[0] as Row | undefined,
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
async function freeChain(ask: (query: Sql) => Promise<{ chain: string }[]>, chain: string): Promise<string> {
  const names = [chain, ...Array.from({ length: MAX_CHAINS - 1 }, (_, n) => `${chain}/${n + 1}`)]
  const [free] = await ask(
    sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)} order by length(chain), chain limit 1 for update skip locked`,
  )
  if (free !== undefined) return free.chain
  const existing = await ask(sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)}`)
  return names[existing.length] ?? names[Math.floor(Math.random() * names.length)] ?? chain
}

/** Translates errors of PostgreSQL and its client to those of the store. */
function translate(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const state = String(error.errno ?? '')
  if (/^(23505|23503|40001|40P01)$/.test(state)) return new Conflict(error.message)
  const serverRefuses = /^(08|53|57|58|25006|55000|55P03)/.test(state)
  if (serverRefuses || error.code !== 'ERR_POSTGRES_SERVER_ERROR') return new Unavailable(error.message)
  return error
}
