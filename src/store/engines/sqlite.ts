import { statSync } from 'node:fs'
import type { Metrics } from '../../kit/metrics.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import type { SchemaOptions } from './migrate.ts'
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
    return await openParts(StoreFiles.of(file, connection), sqliteDatabase(connection), schema, writesRarely)
  } catch (error) {
    connection.close()
    throw error
  }
}

async function openParts(
  files: StoreFiles,
  first: SqliteDatabase,
  schema: Engine['schema'],
  writesRarely: boolean,
): Promise<Engine> {
  const reader = new SqliteReader(first, () => sqliteDatabase(files.open('read')))
  const writer = new WriterQueue(files, () => reader.renew())
  if (!writesRarely) await writer.start()
  return {
    name: 'sqlite',
    schema,
    db: reader.db,
    standbys: reader.db,
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
      await writer.close()
    },
  }
}

/** An open snapshot blocks checkpoints, and the log grows with every write, so it ends as early as possible. */
async function readSnapshot<T>(files: StoreFiles, read: (db: Database) => Promise<T>): Promise<T> {
  let db: SqliteDatabase | undefined
  try {
    db = sqliteDatabase(files.open('read'))
    db.execute('begin')
    return await read(db)
  } catch (thrown) {
    throw translateSqliteError(thrown)
  } finally {
    db?.close()
  }
}

/** A log that keeps growing indicates that checkpoints fail. */
function measureFiles({ file, log }: StoreFiles, metrics: Metrics): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  metrics.gauge('strand_store_file_bytes', 'Size of the files of the embedded store.', [
    [{ file: 'main' }, sizeOf(file)],
    [{ file: 'log' }, sizeOf(log)],
  ])
}
