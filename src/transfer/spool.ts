import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { randomAlphanumerics } from '../kit/id.ts'

const CHUNK_BYTES = 256 * 1024

/** Bytes that can be read more than once, in chunks. */
export interface Rereadable {
  /** In bytes, if known. */
  readonly size: number | undefined
  read(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

export async function openFile(path: string): Promise<Rereadable> {
  const file = await open(path, 'r')
  const { size } = await file.stat()
  return { size, read: () => piecesOf(file), close: () => file.close() }
}

/** A file that is unlinked right after it is created, so that nothing is left behind even if the process crashes. */
export async function openAnonymousFile(folder: string): Promise<FileHandle> {
  const path = join(folder, `.spool-${randomAlphanumerics(12)}`)
  const file = await open(path, 'wx+', 0o600).catch(failSpool)
  await unlink(path)
  return file
}

export const append = (file: FileHandle, text: string | Uint8Array): Promise<void> =>
  file.appendFile(text).catch(failSpool)

/** The spool folder is full or not writable. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError'
}

function failSpool(error: Error): never {
  throw new SpoolError(error.message)
}

/** Bytes that arrive once, written to disk during the first read. */
export async function spool(incoming: AsyncIterable<Uint8Array>, folder: string): Promise<Rereadable> {
  const file = await openAnonymousFile(folder)
  let isComplete = false
  async function* firstRead(): AsyncGenerator<Uint8Array> {
    for await (const chunk of incoming) {
      await append(file, chunk)
      yield chunk
    }
    isComplete = true
  }
  const read = () => (isComplete ? piecesOf(file) : firstRead())
  return { size: undefined, read, close: () => file.close() }
}

/** The bytes of a source that can be read only once, such as a pipe or a device. */
export async function* comingFrom(path: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path, 'r')
  yield* piecesOf(file, { isSeekable: false })
}

/** The bytes of an open file from its beginning. */
export async function* piecesOf(file: FileHandle, { isSeekable = true } = {}): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const chunk = new Uint8Array(CHUNK_BYTES)
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, isSeekable ? position : null)
    if (bytesRead === 0) return
    position += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}
