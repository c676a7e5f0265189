/**
 * The world of most test servers, created once for a run. Servers begin with a copy of it: creating schema and world takes
 * most of the time that a start takes.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../../src/config/config.ts'
import { prepareWorld } from '../../../src/demo/demo.ts'
import { createLog } from '../../../src/kit/telemetry/log.ts'
import { startServer } from '../../../src/server/serve.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite.ts'
import { createDatabase, databaseAt, TEMPLATE_DATABASE } from '../store/postgres.ts'

export const WORLD = { seed: 7, streams: 12 }
/** From which tests copy theirs, on PostgreSQL. */
export const WORLD_DATABASE = 'strand_world'
/** What a copy needs beside the database: stream keys are sealed with the master keys. */
const MASTER_KEYS = 'master-keys'
const EMBEDDED_STORE = 'strand.db'
/** The folder with an embedded store that has a schema and no rows. */
const NOTHING = 'nothing'

type EngineName = 'sqlite' | 'postgres'

/** Creates it in a folder, and on PostgreSQL if there is one. */
export async function prepareWorlds(folder: string, postgresUrl: string | undefined): Promise<void> {
  mkdirSync(join(folder, NOTHING), { recursive: true })
  await (await openSqliteEngine(join(folder, NOTHING, EMBEDDED_STORE))).close()
  await createWorld(join(folder, 'sqlite'), undefined)
  if (postgresUrl === undefined) return
  await createDatabase(postgresUrl, WORLD_DATABASE, TEMPLATE_DATABASE)
  await createWorld(join(folder, 'postgres'), databaseAt(postgresUrl, WORLD_DATABASE))
}

async function createWorld(folder: string, databaseUrl: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const settings = { STRAND_LISTEN: '127.0.0.1:0', STRAND_DATA: folder, DATABASE_URL: databaseUrl }
  const strand = await startServer({
    config: readConfig({}, undefined, settings),
    log: createLog({ level: 'error', readable: true }),
    demo: true,
    prepare: async services => {
      await prepareWorld(services, WORLD)
    },
  })
  await strand.stop()
}

/** Copies the files of the world into the data folder of a server. */
export function copyWorld(worlds: string, engine: EngineName, folder: string): void {
  for (const file of engine === 'sqlite' ? [EMBEDDED_STORE, MASTER_KEYS] : [MASTER_KEYS])
    copyFileSync(join(worlds, engine, file), join(folder, file))
}

/** Copies an embedded store without rows into a data folder. */
export function copyEmptyStore(worlds: string, folder: string): void {
  copyFileSync(join(worlds, NOTHING, EMBEDDED_STORE), join(folder, EMBEDDED_STORE))
}
