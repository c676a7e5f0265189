import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { randomAlphanumerics } from '../kit/id.ts'

const PIECE_BYTES = 256 * 1024

/** Bytes that can be read more than once, in pieces. */
export interface Rereadable {
  /** How many there are, where that is known. */
  readonly size: number | undefined
  read(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** The bytes of a file on disk. */
export async function openFile(path: string): Promise<Rereadable> {
  const file = await open(path, 'r')
  const { size } = await file.stat()
  return { size, read: () => piecesOf(file), close: () => file.close() }
}

/** A file that has a name for a moment only: whatever becomes of this process, nothing stays behind. */
export async function openAnonymousFile(folder: string): Promise<FileHandle> {
  const path = join(folder, `.spool-${randomAlphanumerics(12)}`)
  const file = await open(path, 'wx+', 0o600).catch(cannotKeep)
  await unlink(path)
  return file
}

/** Writes all of it: the system may take less at a time. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done).catch(cannotKeep)).bytesWritten
  }
}

/** The spool folder is full, or cannot be written to. */
export class SpoolError extends Error {
  override readonly name = 'CannotSpool'
}

function cannotKeep(error: Error): never {
  throw new SpoolError(error.message)
}

/** Bytes that come once, kept on disk while they are read for the first time. */
export async function spool(incoming: AsyncIterable<Uint8Array>, folder: string): Promise<Rereadable> {
  const file = await openAnonymousFile(folder)
  let isWhole = false
  async function* firstReading(): AsyncGenerator<Uint8Array> {
    for await (const piece of incoming) {
      await writeAll(file, piece)
      yield piece
    }
    isWhole = true
  }
  const read = () => (isWhole ? piecesOf(file) : firstReading())
  return { size: undefined, read, close: () => file.close() }
}

/** The bytes of what can be read only once, such as a pipe or a device. */
export async function* comingFrom(path: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path, 'r')
  yield* piecesOf(file, { isSeekable: false })
}

/** The bytes of an open file from its beginning. */
export async function* piecesOf(file: FileHandle, { isSeekable = true } = {}): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const piece = new Uint8Array(PIECE_BYTES)
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, isSeekable ? position : null)
    if (bytesRead === 0) return
    position += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}
