import type { Database as Sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import type { Database } from '../database.ts'
import type { SchemaOptions } from '../engine/migrate.ts'
import type { Engine } from '../engine.ts'
import { Unavailable } from '../errors.ts'
import { Checkpoints } from './checkpoints.ts'
import { openSqlite, type SqliteDatabase, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'
import { isInUse } from './sqlite-examination.ts'
import { StoreFiles } from './sqlite-files.ts'
import { hasMissingIndexes, restoreIndexes } from './sqlite-indexes.ts'
import { migrateSqlite, requireSchema } from './sqlite-migrate.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { WriterQueue } from './writer-queue.ts'

interface SqliteOptions extends Pick<SchemaOptions, 'migrate'> {
  /** Starts the writer thread at the first write, for processes that mostly read and end soon. */
  readonly writesRarely?: boolean
}

/** The embedded store: reads in this thread, one writer thread. */
export async function openSqliteEngine(
  file: string,
  { migrate, writesRarely = false }: SqliteOptions = {},
): Promise<Engine> {
  // A short-lived process leaves them to the import, if that is running.
  if (hasMissingIndexes(file) && !(writesRarely && isInUse(file))) restoreIndexes(file)
  const schema = migrate === false ? requireSchema(file) : await migrateSqlite(file)
  const connection = openSqlite(file, 'read')
  try {
    return await openParts(StoreFiles.of(file, connection), forRequests(connection), schema, writesRarely)
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * The page cache of the connection that all requests share. It is filled by what they read, so a small store never fills it.
 * With 16 MB, a channel and its user and game among 100,000 were often a system call each.
 */
const CACHE_KIBIBYTES = 64 * 1024

function forRequests(connection: Sqlite): SqliteDatabase {
  connection.run(`pragma cache_size = -${CACHE_KIBIBYTES}`)
  return sqliteDatabase(connection)
}

async function openParts(
  files: StoreFiles,
  first: SqliteDatabase,
  schema: Engine['schema'],
  writesRarely: boolean,
): Promise<Engine> {
  const reader = new SqliteReader(first, () => forRequests(files.open('read')))
  const writer = new WriterQueue(files, () => reader.renew())
  const checkpoints = new Checkpoints(files)
  try {
    if (!writesRarely) await writer.start()
  } catch (error) {
    await checkpoints.close()
    throw error
  }
  return {
    name: 'sqlite',
    schema,
    db: reader.db,
    snapshot: read => readSnapshot(files, read),
    reserved: reader.db,
    run: (name, args, author) => writer.run(name, args, author),
    unavailableReason: () => writer.unavailableReason(),
    measure: metrics => {
      writer.measure(metrics)
      measureFiles(files, metrics)
    },
    close: async () => {
      // The writer closes last: without readers, the log is merged into the file.
      reader.close()
      await checkpoints.close()
      await writer.close()
    },
  }
}

/** While a snapshot is open the log cannot start again and grows with every write. */
const MAX_SNAPSHOT_MILLISECONDS = 10 * 60_000

/** Reads of a snapshot that has reached its maximum age fail. */
async function readSnapshot<T>(files: StoreFiles, read: (db: Database) => Promise<T>): Promise<T> {
  let db: SqliteDatabase | undefined
  let ending: Timer | undefined
  try {
    const opened = sqliteDatabase(files.open('read'))
    db = opened
    opened.execute('begin')
    let isOver = false
    ending = setTimeout(() => {
      isOver = true
      opened.close()
    }, MAX_SNAPSHOT_MILLISECONDS)
    const requireOpen = () => {
      if (isOver)
        throw new Unavailable(
          `a snapshot ends after ${MAX_SNAPSHOT_MILLISECONDS / 60_000} minutes: read faster, or read a backup`,
        )
      return opened
    }
    return await read({
      all: async query => requireOpen().all(query),
      get: async query => requireOpen().get(query),
    })
  } catch (thrown) {
    throw translateSqliteError(thrown)
  } finally {
    clearTimeout(ending)
    db?.close()
  }
}

/** A log that keeps growing indicates that checkpoints fail. */
function measureFiles({ file, log }: StoreFiles, metrics: Metrics): void {
  const fileSize = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  metrics.gauge('strand_store_file_bytes', 'Size of the files of the embedded store.', [
    [{ file: 'main' }, fileSize(file)],
    [{ file: 'log' }, fileSize(log)],
  ])
}
