/**
 * The checkpoint thread, which copies the pages of the write-ahead log into the file. A checkpoint takes as long as the log
 * has grown, seconds after a long read, so no commit may wait for it: the writer's connection has no automatic checkpoints.
 *
 * What it does depends on the frames of the log, which it looks at several times a second:
 *
 *   many are not copied         passive checkpoint: takes no lock that a writer or reader waits for
 *   many, and few not copied    restart: copies the rest under the write lock, and the next commit starts at the beginning
 *   no commits, log too large   truncate: as restart, and cuts the file back
 *
 * Without the second, commits that never pause would let the log grow for ever. A reader of an old state prevents the last
 * two; they are tried again. Commits are synced to the log by the writer, and SQLite syncs the log before it copies and the
 * file before the log starts again, so what a commit promises does not depend on this thread.
 */
import { constants, type Database as Sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { MAX_LOG_BYTES } from './sqlite-connection.ts'
import { StoreFiles } from './sqlite-files.ts'

const TICK_MILLISECONDS = 100
/** 16 MB: large enough to make checkpoints rare, small enough to be read quickly after a crash. */
const MAX_UNCOPIED_FRAMES = 4000
/** The log is restarted at half of its maximum size. */
const MAX_FRAMES = MAX_LOG_BYTES / 4096 / 2
/** So few frames are copied within milliseconds, so commits can wait for them. */
const FEW_FRAMES = 500
/** How long a restart waits for the write lock, and how long commits wait for readers. Longer than a turn of a reader. */
const LOCK_MILLISECONDS = 50

type Checkpoint = 'noop' | 'passive' | 'restart' | 'truncate'

declare const self: Worker

class Checkpointer {
  readonly #files: StoreFiles
  #connection: Sqlite | undefined
  #lastFrames = -1

  constructor(files: StoreFiles) {
    this.#files = files
  }

  /** Never throws. After a failure it opens a new connection: the disk may work again. */
  tick(): void {
    try {
      this.#files.require()
      this.#reduceLog()
    } catch {
      this.close()
    }
  }

  /** Without removing the log, which the last connection would do. */
  close(): void {
    try {
      this.#connection?.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
      this.#connection?.close()
    } catch {
      // Closing after a disk failure may fail.
    }
    this.#connection = undefined
  }

  #reduceLog(): void {
    let { frames, copied } = this.#run('noop')
    const isIdle = frames === this.#lastFrames
    if (frames - copied >= MAX_UNCOPIED_FRAMES) ({ frames, copied } = this.#run('passive'))
    if (frames >= MAX_FRAMES && frames - copied <= FEW_FRAMES) ({ frames, copied } = this.#run('restart'))
    const bytes = statSync(this.#files.log, { throwIfNoEntry: false })?.size ?? 0
    if (isIdle && bytes > MAX_LOG_BYTES) ({ frames } = this.#run('truncate'))
    this.#lastFrames = frames
  }

  #run(checkpoint: Checkpoint): { frames: number; copied: number } {
    this.#connection ??= this.#connect()
    const statement = this.#connection.prepare(`pragma wal_checkpoint(${checkpoint})`)
    try {
      const { log, checkpointed } = statement.get() as { log: number; checkpointed: number }
      return { frames: log, copied: checkpointed }
    } finally {
      statement.finalize()
    }
  }

  #connect(): Sqlite {
    const connection = this.#files.open('write')
    connection.run('pragma wal_autocheckpoint = 0')
    connection.run(`pragma busy_timeout = ${LOCK_MILLISECONDS}`)
    return connection
  }
}

self.onmessage = ({ data }: MessageEvent<Pick<StoreFiles, 'file' | 'ids'>>) => {
  const checkpointer = new Checkpointer(new StoreFiles(data))
  const ticking = setInterval(() => checkpointer.tick(), TICK_MILLISECONDS)
  self.onmessage = () => {
    clearInterval(ticking)
    checkpointer.close()
    self.postMessage('closed')
  }
}
