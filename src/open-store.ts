import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from './config.ts'
import {
  completeRestore,
  type DataFolder,
  giveToOwner,
  openDataFolder,
  prepareDataFolder,
  storeFileOf,
} from './data-folder.ts'
import { CannotStart } from './kit/cannot-start.ts'
import type { Log } from './kit/log.ts'
import { Unavailable } from './store/errors.ts'
import { openPostgresEngine } from './store/sql/postgres.ts'
import { MigrationStalled } from './store/sql/postgres-migrate.ts'
import { SchemaRefused } from './store/sql/schema-state.ts'
import { openSqliteEngine } from './store/sql/sqlite.ts'
import { createStore, type Engine, type Store } from './store/store.ts'

export interface OpenOptions {
  readonly log?: Log
  /** How a migration at the opening of a store goes, for people who wait for it. */
  readonly report?: (line: string) => void
}

/** The store that the settings name: PostgreSQL, or else the embedded one in the data folder. */
export async function openStore(config: Config, options: OpenOptions = {}): Promise<Store> {
  return createStore(await openEngine(config, storeFileOf(config), options))
}

/**
 * The store and the folder with its master keys, for whoever seals stream keys. Refused, with nothing made, if the store has
 * some that were sealed with a master key that is not here. The store is asked first: a key is in the ring before it seals.
 */
export async function openStoreWithKeys(
  config: Config,
  options: OpenOptions = {},
): Promise<{ store: Store; folder: DataFolder }> {
  if (config.databaseUrl === undefined) prepareDataFolder(config)
  const store = await openStore(config, options)
  try {
    const sealed = await store.streamKeys.countByMasterKey()
    return { store, folder: openDataFolder(config, sealed.keys()) }
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function openEngine(config: Config, file: string, { log, report }: OpenOptions): Promise<Engine> {
  const { migrate } = config
  try {
    if (config.databaseUrl !== undefined) {
      return await openPostgresEngine(config.databaseUrl, {
        connections: config.databaseConnections,
        pooled: config.databasePooled,
        log,
        migrate,
        ...(report && { report }),
      })
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    completeRestore(dirname(file))
    const engine = await openSqliteEngine(file, { migrate })
    for (const each of [file, `${file}-wal`, `${file}-shm`].filter(existsSync)) {
      chmodSync(each, 0o600)
      giveToOwner(each)
    }
    return engine
  } catch (error) {
    if (error instanceof SchemaRefused || error instanceof MigrationStalled)
      throw new CannotStart(error.message)
    if (error instanceof Unavailable || config.databaseUrl === undefined) {
      throw new CannotStart(`the store cannot be opened: ${(error as Error).message}`)
    }
    throw error
  }
}
