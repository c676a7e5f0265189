/**
 * Checks that the paths of the store still refer to the files that this process has open. A store that was deleted, moved or
 * replaced under a running server can still be written, but the writes are lost: the system removes a deleted file when its
 * last handle is closed. So nothing is acknowledged while a path refers to another file, and nothing is opened there.
 *
 * Files are identified by device and inode, without opening them: closing a second handle of a file would release every lock
 * that SQLite holds on it in this process.
 */
import type { Database as Sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { Unavailable } from '../errors.ts'
import { openSqlite } from './sqlite-connection.ts'

/** SQLITE_FCNTL_HAS_MOVED: whether the path of a connection refers to another file than the open one. */
const HAS_MOVED = 20

/** A path of the store refers to another file, or to none. */
export class StoreMoved extends Unavailable {
  constructor(path: string) {
    super(
      `${path} was deleted, moved or replaced while it was in use; put the original back, or restart the server to use the current file`,
    )
  }
}

/** The database, its write-ahead log and the index of the log. They do not change while a connection is open. */
export class StoreFiles {
  readonly file: string
  readonly log: string
  /** The file of each path when the store was opened. */
  readonly ids: ReadonlyMap<string, string | undefined>

  constructor({ file, ids }: Pick<StoreFiles, 'file' | 'ids'>) {
    this.file = file
    this.log = logFile(file)
    this.ids = ids
  }

  /** The files of a newly opened connection. */
  static of(file: string, connection: Sqlite): StoreFiles {
    touchLog(connection)
    const paths = [file, logFile(file), `${file}-shm`]
    const files = new StoreFiles({ file, ids: new Map(paths.map(path => [path, fileAt(path)])) })
    if (hasMoved(connection)) throw new StoreMoved(file)
    return files
  }

  /** Throws if a path refers to another file now. */
  require(): void {
    for (const [path, id] of this.ids) if (fileAt(path) !== id) throw new StoreMoved(path)
  }

  /** Another connection to the same files. */
  open(mode: 'read' | 'write'): Sqlite {
    this.require()
    const connection = openSqlite(this.file, mode)
    try {
      touchLog(connection)
      this.require()
      if (hasMoved(connection)) throw new StoreMoved(this.file)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }
}

const logFile = (file: string) => `${file}-wal`

/** Makes the connection open the log, and create it if necessary, which happens at its first read. */
function touchLog(connection: Sqlite): void {
  connection.query('select version from schema_versions limit 1').get()
}

function hasMoved(connection: Sqlite): boolean {
  const answer = new Int32Array(2)
  connection.fileControl(HAS_MOVED, answer)
  return answer[0] !== 0
}

/** The identity of the file at a path; undefined if there is none. */
function fileAt(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  } catch {
    return undefined
  }
}
