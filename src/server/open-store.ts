import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import {
  chownToOwner,
  completeRestore,
  type DataFolder,
  openDataFolder,
  prepareDataFolder,
  storeFilePath,
} from '../config/data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { Outage } from '../kit/telemetry/outage.ts'
import { isInUse } from '../store/embedded-file.ts'
import { SchemaRefused } from '../store/engine/schema-state.ts'
import type { Engine } from '../store/engine.ts'
import { Unavailable } from '../store/errors.ts'
import { openPostgresEngine } from '../store/postgres/postgres.ts'
import { MigrationStalled } from '../store/postgres/postgres-migrate.ts'
import { openSqliteEngine } from '../store/sqlite/sqlite.ts'
import { createStore, type Store } from '../store/store.ts'

/** How long to wait for PostgreSQL at startup, and when to stop waiting. */
export interface StoreWait {
  readonly seconds: number
  isStopping(): boolean
}

export interface OpenOptions {
  readonly log?: Log
  /** Reports the progress of a migration. */
  readonly report?: (line: string) => void
  readonly wait?: StoreWait
  /** Starts the writer of the embedded store at the first write. */
  readonly writesRarely?: boolean
}

const WAIT_PAUSE_MILLISECONDS = 200

/** Whether the store is embedded and no process has it open. Called before this one opens it. */
export function isStoreUnused(config: Config): boolean {
  return config.databaseUrl === undefined && !isInUse(storeFilePath(config))
}

/** Opens the configured store: PostgreSQL, or the embedded one in the data folder. */
export async function openStore(config: Config, options: OpenOptions = {}): Promise<Store> {
  return createStore(await openEngine(config, storeFilePath(config), options))
}

/**
 * Opens the store and its master keys, for code that seals stream keys. Fails, without creating anything, if the store has
 * stream keys sealed with a master key that is missing. The store is read first: a key is in the ring before it is used.
 */
export async function openStoreWithKeys(
  config: Config,
  options: OpenOptions = {},
): Promise<{ store: Store; folder: DataFolder }> {
  if (config.databaseUrl === undefined) prepareDataFolder(config)
  const store = await openStore(config, options)
  try {
    return { store, folder: openDataFolder(config, await store.streamKeys.masterKeys()) }
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function openEngine(config: Config, file: string, options: OpenOptions): Promise<Engine> {
  const { log, report, wait, writesRarely = false } = options
  const { migrate } = config
  try {
    if (config.databaseUrl !== undefined) {
      const { databaseUrl, databaseConnections: connections, databasePooled: pooled } = config
      const pool = { connections, pooled, log, migrate, ...(report && { report }) }
      return await retryWhileUnavailable(() => openPostgresEngine(databaseUrl, pool), log, wait)
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    completeRestore(dirname(file))
    const engine = await openSqliteEngine(file, { migrate, writesRarely })
    for (const each of [file, `${file}-wal`, `${file}-shm`].filter(existsSync)) {
      chmodSync(each, 0o600)
      chownToOwner(each)
    }
    return engine
  } catch (error) {
    if (error instanceof SchemaRefused || error instanceof MigrationStalled)
      throw new OperatorError(error.message)
    if (error instanceof Unavailable || config.databaseUrl === undefined) {
      throw new OperatorError(`the store cannot be opened: ${(error as Error).message}`)
    }
    if (isOfServer(error)) throw new OperatorError(`the store cannot be opened: ${explainOpenError(error)}`)
    throw error
  }
}

const isOfServer = (error: unknown): error is { code: string; errno: unknown; message: string } =>
  (error as { code?: string }).code === 'ERR_POSTGRES_SERVER_ERROR'

function explainOpenError({ errno, message }: { errno: unknown; message: string }): string {
  const advice = String(errno) === '42501' ? ': make the role in DATABASE_URL the owner of the database' : ''
  return `PostgreSQL: ${message}${advice}`
}

/** Retries while the store is unavailable and time is left; logs the reason, but not at every attempt. */
async function retryWhileUnavailable(
  open: () => Promise<Engine>,
  log?: Log,
  wait?: StoreWait,
): Promise<Engine> {
  const deadline = performance.now() + (wait?.seconds ?? 0) * 1000
  const outage = new Outage()
  for (;;) {
    try {
      return await open()
    } catch (error) {
      const now = performance.now()
      if (!(error instanceof Unavailable) || now >= deadline || wait?.isStopping()) throw error
      if (outage.fail(now) !== undefined) {
        const seconds_left = Math.ceil((deadline - now) / 1000)
        log?.warn({ reason: error.message, seconds_left }, 'waiting for the store')
      }
      await Bun.sleep(WAIT_PAUSE_MILLISECONDS)
    }
  }
}
