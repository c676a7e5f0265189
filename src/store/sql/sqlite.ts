import { statSync } from 'node:fs'
import type { Figures } from '../../kit/figures.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../store.ts'
import { sqliteFlavor } from './flavors.ts'
import { migrate, SCHEMA_VERSION } from './migrate.ts'
import { openSqlite, type SqliteDatabase, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'
import { StoreFiles } from './sqlite-files.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { WriterQueue } from './writer-queue.ts'

/** The embedded store: readers here, one writer in its thread. */
export async function openSqliteEngine(file: string): Promise<Engine> {
  const applied = await migrateSqlite(file)
  const connection = openSqlite(file, 'read')
  try {
    return await openParts(StoreFiles.of(file, connection), sqliteDatabase(connection), applied)
  } catch (error) {
    connection.close()
    throw error
  }
}

async function openParts(files: StoreFiles, first: SqliteDatabase, applied: number): Promise<Engine> {
  const reader = new SqliteReader(first, () => sqliteDatabase(files.open('read')))
  const writer = await WriterQueue.start(files, () => reader.renew())
  return {
    name: 'sqlite',
    schema: { version: SCHEMA_VERSION, applied },
    db: reader.db,
    snapshot: read => readInOneView(files, read),
    reserved: reader.db,
    run: (name, args, author) => writer.run(name, args, author),
    unavailableReason: () => writer.unavailableReason(),
    measure: figures => {
      writer.measure(figures)
      measureFiles(files, figures)
    },
    close: async () => {
      // The writer closes last: then nobody else reads, and its log is folded into the file.
      reader.close()
      await writer.close()
    },
  }
}

/** While the view is open, the log cannot be folded into the file and grows by what is written: it ends as soon as it may. */
async function readInOneView<T>(files: StoreFiles, read: (db: Database) => Promise<T>): Promise<T> {
  let db: SqliteDatabase | undefined
  try {
    db = sqliteDatabase(files.open('read'))
    db.say('begin')
    return await read(db)
  } catch (thrown) {
    throw translateSqliteError(thrown)
  } finally {
    db?.close()
  }
}

/** Migrates under SQLite's own write lock: a second program that starts meanwhile waits, and finds nothing to do. */
export async function migrateSqlite(file: string): Promise<number> {
  const connection = openSqlite(file, 'create')
  try {
    connection.run('begin immediate')
    const applied = await migrate(
      {
        execute: async statements => {
          connection.run(statements)
        },
        version: async () => {
          const row = connection
            .query('select coalesce(max(version), 0) as version from schema_versions')
            .get()
          return (row as { version: number }).version
        },
      },
      sqliteFlavor,
    )
    connection.run('commit')
    return applied
  } finally {
    connection.close()
  }
}

/** The log beside the file is folded into it from time to time; one that keeps growing is not. */
function measureFiles({ file, log }: StoreFiles, figures: Figures): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  figures.gauge('strand_store_file_bytes', 'Size of the files of the embedded store.', [
    [{ file: 'main' }, sizeOf(file)],
    [{ file: 'log' }, sizeOf(log)],
  ])
}
