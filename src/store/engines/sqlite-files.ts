/**
 * Whether the files that this process has open are still those that their paths lead to. A store that was deleted, moved or
 * replaced under a running server can still be written, but the writes are lost: the system drops a deleted file with its
 * last open handle. So nothing is acknowledged while a path leads elsewhere, and nothing is opened there.
 *
 * Files are identified by device and inode. They are never opened to find out: closing a second handle of a file releases
 * every lock that SQLite holds on it in this process.
 */
import type { Database as Sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { Unavailable } from '../errors.ts'
import { openSqlite } from './sqlite-connection.ts'

/** SQLITE_FCNTL_HAS_MOVED: whether the path of a connection leads to another file than the one it has open. */
const HAS_MOVED = 20

/** A path of the store leads to another file, or to none. */
export class StoreMoved extends Unavailable {
  constructor(path: string) {
    super(
      `${path} was deleted, moved or replaced while it was in use; put the original back, or restart the server to serve what is there now`,
    )
  }
}

/** The database, its write-ahead log and the index of the log. They stay the same as long as one connection is open. */
export class StoreFiles {
  readonly file: string
  readonly log: string
  /** Which file each path led to when the store was opened. */
  readonly ids: ReadonlyMap<string, string | undefined>

  constructor({ file, ids }: Pick<StoreFiles, 'file' | 'ids'>) {
    this.file = file
    this.log = logOf(file)
    this.ids = ids
  }

  /** The files of a connection that was just opened. */
  static of(file: string, connection: Sqlite): StoreFiles {
    lookAt(connection)
    const paths = [file, logOf(file), `${file}-shm`]
    const files = new StoreFiles({ file, ids: new Map(paths.map(path => [path, fileAt(path)])) })
    if (hasMoved(connection)) throw new StoreMoved(file)
    return files
  }

  /** Throws if one of them is not where it was. */
  require(): void {
    for (const [path, id] of this.ids) if (fileAt(path) !== id) throw new StoreMoved(path)
  }

  /** Another connection to the same files. */
  open(mode: 'read' | 'write'): Sqlite {
    this.require()
    const connection = openSqlite(this.file, mode)
    try {
      lookAt(connection)
      this.require()
      if (hasMoved(connection)) throw new StoreMoved(this.file)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }
}

const logOf = (file: string) => `${file}-wal`

/** A connection opens the log, and creates it if necessary, with its first read. */
function lookAt(connection: Sqlite): void {
  connection.query('select version from schema_versions limit 1').get()
}

function hasMoved(connection: Sqlite): boolean {
  const answer = new Int32Array(2)
  connection.fileControl(HAS_MOVED, answer)
  return answer[0] !== 0
}

/** Which file a path leads to; undefined if to none. */
function fileAt(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  } catch {
    return undefined
  }
}
