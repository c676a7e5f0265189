import type { SQL } from 'bun'
import { isRefusal } from '../../contract/problem.ts'
import { hostUrls } from '../../kit/connection-url.ts'
import { requestScope } from '../../kit/request-scope.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { withTimeout } from '../../kit/time/with-timeout.ts'
import type { Database } from '../database.ts'
import { writeMilliseconds } from '../engine/deadlines.ts'
import type { Migrated, SchemaOptions } from '../engine/migrate.ts'
import { requireServable } from '../engine/schema-state.ts'
import type { Engine } from '../engine.ts'
import { Overloaded, Unavailable } from '../errors.ts'
import { areTablesAnalyzed } from './analyze-tables.ts'
import { isTooManyConnections, TooManyConnections } from './connection-pool.ts'
import { PostgresCommands } from './postgres-commands.ts'
import { isUnknownToServer, postgresDatabase, translatePostgresError } from './postgres-connection.ts'
import { migratePostgres, postgresSchema } from './postgres-migrate.ts'
import { listPools, type PoolOptions, type Pools, READ_MILLISECONDS } from './postgres-pools.ts'
import { Primary } from './postgres-primary.ts'
import { SchemaWatch } from './schema-watch.ts'

/** How long a migration tries to get its connections from a server that accepts no more. */
const CONNECT_MILLISECONDS = 5000
const CONNECT_PAUSE_MILLISECONDS = 50

/** PostgreSQL. Queries go to the primary, as commands do, because a standby may lack what was just acknowledged. */
export async function openPostgresEngine(url: string, options: PoolOptions & SchemaOptions): Promise<Engine> {
  const primary = new Primary(hostUrls(url), options)
  const schema = await primary
    .pools()
    .then(pools => prepareSchema(pools, options))
    .catch(async error => {
      await primary.close()
      throw translatePostgresError(error)
    })
  const watch = new SchemaWatch(async () => readReserved(await primary.pools(), postgresSchema), options.log)
  const commands = new PostgresCommands(options)
  const refused = { reads: 0, writes: 0 }
  const read = <T>(work: (pools: Pools) => Promise<T>) =>
    onPrimary(primary, watch, READ_MILLISECONDS, work).catch(countRefusal(refused, 'reads'))
  return {
    name: 'postgres',
    schema,
    db: databaseName(query => read(pools => readQueued(pools, query))),
    reserved: databaseName(query => read(pools => readReserved(pools, query))),
    snapshot: work => {
      watch.require()
      return readSnapshot(primary, work)
    },
    run: (name, args, author) =>
      onPrimary(primary, watch, writeMilliseconds(name), async (pools, deadline) => {
        const began = performance.now()
        const outcome = await commands.run(pools, { name, args, author }, deadline)
        // Work in the background has no caller who relies on it.
        const hasCaller = author !== undefined || requestScope() !== undefined
        if (hasCaller && !isRefusal(outcome.result)) primary.noteAcknowledged(pools, outcome.entries, began)
        return outcome
      }).catch(countRefusal(refused, 'writes')),
    // Readiness depends on a query only.
    unavailableReason: () => undefined,
    measure: metrics => {
      primary.measure(metrics)
      commands.measure(metrics)
      measureRefusals(metrics, refused)
    },
    close: async () => {
      await watch.stop()
      await primary.close()
    },
  }
}

async function prepareSchema(pools: Pools, { migrate, report }: SchemaOptions): Promise<Migrated> {
  if (migrate === false) {
    const { version } = requireServable(await pools.reading.run(postgresSchema))
    return { version, applied: 0 }
  }
  const current = await pools.reading.run(currentVersion).catch(() => undefined)
  if (current !== undefined) return { version: current, applied: 0 }
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

/**
 * The schema version of a store in which there is nothing to migrate and nothing to analyze. Most starts find that out here, on a
 * connection that they need anyway; whatever else is found, or fails, the migration looks at again.
 */
async function currentVersion(connection: SQL): Promise<number | undefined> {
  const { verdict, version } = await postgresSchema(connection)
  return verdict === 'current' && (await areTablesAnalyzed(connection)) ? version : undefined
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
    for (const pool of listPools(pools)) pool.closeIdle()
    await Bun.sleep(CONNECT_PAUSE_MILLISECONDS)
  }
}

/** A database whose queries run on a connection that `run` provides. */
function databaseName(run: <T>(read: (connection: SQL) => Promise<T>) => Promise<T>): Database {
  return {
    all: query => run(async connection => postgresDatabase(connection).all(query)),
    get: query => run(async connection => postgresDatabase(connection).get(query)),
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

function measureRefusals(metrics: Metrics, refused: { reads: number; writes: number }): void {
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
}

/** Does the work on the primary. If that fails because of the server, all servers are probed again. */
async function onPrimary<T>(
  primary: Primary,
  watch: SchemaWatch,
  milliseconds: number,
  work: (pools: Pools, deadline: number) => Promise<T>,
): Promise<T> {
  watch.require()
  // The time to find the primary counts.
  const deadline = performance.now() + milliseconds
  const pools = await primary.pools()
  try {
    const answer = await withTimeout(deadline - performance.now(), work(pools, deadline), () => {
      throw new Unavailable('PostgreSQL took too long')
    })
    primary.noteSuccess(pools)
    return answer
  } catch (thrown) {
    if (isUnknownToServer(thrown)) await watch.check().catch(() => undefined)
    watch.require()
    const error = translatePostgresError(thrown)
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
    return await connection.begin('isolation level repeatable read read only', tx =>
      read(postgresDatabase(tx)),
    )
  } catch (thrown) {
    throw translatePostgresError(thrown)
  } finally {
    await connection.close({ timeout: 1 })
  }
}
