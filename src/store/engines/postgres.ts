import { SQL } from 'bun'
import type { Author } from '../../domain/audit.ts'
import { hostUrls } from '../../kit/connection-url.ts'
import { inTime } from '../../kit/in-time.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { requestScope } from '../../kit/request-scope.ts'
import type { CommandName } from '../commands/index.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { Conflict, Overloaded, Unavailable } from '../errors.ts'
import type { FeedEntry } from '../feed.ts'
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

/** How many chains of the audit log stand for one, when so many write at once. */
const MAX_CHAINS = 16
const TRIES = 5
/** A commit that took longer has waited for a standby, and is made sure of. */
const SLOW_COMMIT_MILLISECONDS = 300
/** How long a migration tries to get its connections from a server that takes no more. */
const MAKE_ROOM_MILLISECONDS = 5000
const MAKE_ROOM_PAUSE_MILLISECONDS = 50

/**
 * Commands whose loss in a crash harms nobody: points that were leased are full again then. Their commits wait neither for
 * the disk nor for a standby, and they have a connection of their own.
 */
const FORGETTABLE: ReadonlySet<CommandName> = new Set(['leasePoints'])

type Queryable = Pick<SQL, 'unsafe'>

/**
 * PostgreSQL: a command is a transaction on the primary, run anew when it met another one. Queries ask the primary too: a
 * standby may not have what was just acknowledged.
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
  const counts = { reruns: 0, refused: { reads: 0, writes: 0 } }
  const ask = <T>(work: (pools: Pools) => Promise<T>) =>
    onPrimary(primary, READ_MILLISECONDS, work).catch(countRefusal(counts.refused, 'reads'))
  const rerun = () => {
    counts.reruns += 1
  }
  return {
    name: 'postgres',
    schema,
    db: databaseOf(read => ask(pools => readInTurn(pools, read))),
    reserved: databaseOf(read => ask(pools => readReserved(pools, read))),
    snapshot: read => readInOneView(primary, read),
    run: (name, args, author) =>
      onPrimary(primary, writeMilliseconds(name), ({ writing, leasing }) =>
        runWithRetries(
          FORGETTABLE.has(name) ? leasing : writing,
          options.pooled,
          { name, args, author },
          rerun,
        ),
      ).catch(countRefusal(counts.refused, 'writes')),
    // Readiness is decided by a query alone.
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
    return await migratePostgres(() => connections.shift() ?? connectAtLeisure(pools), report && { report })
  } finally {
    for (const connection of connections) await connection.close({ timeout: 1 })
  }
}

/** Connections of the pools give up early; a migration takes the time that it takes. */
const connectAtLeisure = (pools: Pools): SQL => pools.connectAside({ statement_timeout: 0, lock_timeout: 0 })

/**
 * The two connections that a migration needs. Where the role may have few, those of the pools make room; the server takes a
 * moment to notice that they are gone.
 */
async function connectForMigration(pools: Pools): Promise<SQL[]> {
  const deadline = performance.now() + MAKE_ROOM_MILLISECONDS
  for (;;) {
    const connections = [connectAtLeisure(pools), connectAtLeisure(pools)]
    const outcomes = await Promise.allSettled(connections.map(connection => connection.connect()))
    const failure = outcomes.find(outcome => outcome.status === 'rejected')
    if (failure === undefined) return connections
    await Promise.all(connections.map(connection => connection.close({ timeout: 0 }).catch(() => undefined)))
    if (!isTooManyConnections(failure.reason) || performance.now() > deadline) throw failure.reason
    for (const pool of poolsOf(pools)) pool.closeIdle()
    await Bun.sleep(MAKE_ROOM_PAUSE_MILLISECONDS)
  }
}

/** Queries as they are put to a connection, by whoever has one. */
function databaseOf(run: <T>(read: (connection: SQL) => Promise<T>) => Promise<T>): Database {
  return {
    all: query => run(async connection => database(connection).all(query)),
    get: query => run(async connection => database(connection).get(query)),
  }
}

/**
 * The first read of a request waits in line, or is refused; those behind it go first, so that a request is not refused
 * halfway. So do reads that no request asked for: they are few, and everybody waits for what they fill.
 */
async function readInTurn<T>({ reading }: Pools, read: (connection: SQL) => Promise<T>): Promise<T> {
  const scope = requestScope()
  const answer = await reading.run(read, { urgent: scope?.hasRead ?? true })
  if (scope !== undefined) scope.hasRead = true
  return answer
}

/** Over the connection kept for it; where the server did not take that one more, in front of all other reads. */
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
  { reruns, refused }: { reruns: number; refused: { reads: number; writes: number } },
): void {
  metrics.counter(
    'strand_postgres_reads_refused_total',
    'Reads refused because too many were waiting for a connection.',
    refused.reads,
  )
  metrics.counter(
    'strand_postgres_writes_refused_total',
    'Writes that waited for a connection in vain.',
    refused.writes,
  )
  metrics.counter('strand_postgres_reruns_total', 'Transactions run anew after meeting another.', reruns)
}

/** Does the work on whichever server is the primary; where that fails as it does when it is no longer, it is looked for. */
async function onPrimary<T>(
  primary: Primary,
  milliseconds: number,
  work: (pools: Pools) => Promise<T>,
): Promise<T> {
  const began = performance.now()
  const pools = await primary.pools()
  try {
    // The time that it took to find the primary counts.
    const answer = await inTime(milliseconds - (performance.now() - began), work(pools), () => {
      throw new Unavailable('PostgreSQL took too long')
    })
    primary.confirm(pools)
    return answer
  } catch (thrown) {
    const error = translate(thrown)
    // What was refused here says nothing about the server.
    if (error instanceof Unavailable && !(error instanceof Overloaded)) primary.doubt(pools)
    throw error
  }
}

/** The view stays as it is from its first query on. */
async function readInOneView<T>(primary: Primary, read: (db: Database) => Promise<T>): Promise<T> {
  const { connectAside } = await primary.pools()
  const connection = connectAside()
  try {
    return await connection.begin('isolation level repeatable read read only', tx => read(database(tx)))
  } catch (thrown) {
    throw translate(thrown)
  } finally {
    await connection.close({ timeout: 1 })
  }
}

/** A command on its way. */
interface Job {
  readonly name: CommandName
  readonly args: unknown
  readonly author: Author | undefined
}

function runWithRetries(
  pool: ConnectionPool,
  pooled: boolean,
  job: Job,
  onRerun: () => void,
): Promise<{ result: unknown; entries: readonly FeedEntry[] }> {
  return pool.run(async connection => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runOnce(connection, pooled, job)
      } catch (thrown) {
        if (!(translate(thrown) instanceof Conflict) || attempt === TRIES) throw thrown
        onRerun()
      }
    }
  })
}

async function runOnce(connection: SQL, pooled: boolean, { name, args, author }: Job) {
  const isForgettable = FORGETTABLE.has(name)
  let done = Number.POSITIVE_INFINITY
  const outcome = await connection.begin(async tx => {
    if (pooled) await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
    if (isForgettable) await tx.unsafe('set local synchronous_commit = off')
    const ran = await runCommand(database(tx), name, args, author)
    done = performance.now()
    return ran
  })
  if (!isForgettable && performance.now() - done > SLOW_COMMIT_MILLISECONDS) await makeSure(connection)
  return outcome
}

/**
 * If somebody cancels a commit that waits for a standby, PostgreSQL reports success with a warning that our client does not
 * show. The log is copied in order: when a later commit has been waited for in full, so have all before it.
 */
async function makeSure(connection: SQL): Promise<void> {
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
      // Whoever only refers to such a row need not wait.
      await ask(sql`${query} for no key update of ${verbatim(table)}`)
    },
    freeChain: chain => freeChain(ask, chain),
  }
}

/**
 * The first chain whose head nobody holds: the one that was asked for, or `chain/1`, `chain/2` and so on beside it, which are
 * begun when all before them are taken.
 */
async function freeChain(ask: (query: Sql) => Promise<{ chain: string }[]>, chain: string): Promise<string> {
  const names = [chain, ...Array.from({ length: MAX_CHAINS - 1 }, (_, n) => `${chain}/${n + 1}`)]
  const [free] = await ask(
    sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)} order by length(chain), chain limit 1 for update skip locked`,
  )
  if (free !== undefined) return free.chain
  const begun = await ask(sql`select chain from audit_heads where ${isOneOf(sql`chain`, names)}`)
  return names[begun.length] ?? names[Math.floor(Math.random() * names.length)] ?? chain
}

/** What PostgreSQL and its client throw, in the words of the port. */
function translate(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const state = String(error.errno ?? '')
  if (/^(23505|23503|40001|40P01)$/.test(state)) return new Conflict(error.message)
  const serverRefuses = /^(08|53|57|58|25006|55000|55P03)/.test(state)
  if (serverRefuses || error.code !== 'ERR_POSTGRES_SERVER_ERROR') return new Unavailable(error.message)
  return error
}
