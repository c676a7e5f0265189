/**
 * The file of a recording, which can be read after a crash between any two of its writes (D-260, D-261):
 *
 *     ftyp | free (16 bytes) | ftyp moov | moof mdat | moof mdat | ...            while it is written
 *     ftyp | mdat                                          ... | moov             closed: a plain MP4
 *
 * Fragments are appended. Where codecs or size change, or time was lost, another `ftyp moov` comes first. Closing appends the
 * `moov` of everything, and then one write turns the 16 bytes at the start into the header of an `mdat` that has all that lies
 * before the `moov`. Opening a closed one writes `free` back, and then cuts the `moov` off.
 *
 * The fragments of a file are found from its start. What follows the last whole one is cut off: half a fragment, an init segment
 * without a fragment, a `moov` of a file that was not closed to its end, or a fragment in which a power loss has left zeros.
 */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { box, text, uint32, zeros } from '../mp4-box.ts'
import { MovieTables } from './movie-tables.ts'
import {
  type FragmentRun,
  HEADER_BYTES,
  type InitTrack,
  MAX_INIT_BYTES,
  MAX_MOOF_BYTES,
  readFragment,
  readHeader,
  readInit,
} from './mp4-reader.ts'

const FILE_TYPE = box('ftyp', text('isom'), uint32(0x200), text('isomiso6mp41'))
const OPEN = box('free', zeros(8))
/** What a file begins with. */
export const FILE_START: Uint8Array = Buffer.concat([FILE_TYPE, OPEN])
const MARK_AT = FILE_TYPE.length

/** What is read at a time: most fragments describe their samples in less. */
const READ_BYTES = 8 * 1024
const WRITE_BYTES = 1024 * 1024
const SECTOR = 512
const NO_BYTES = Buffer.alloc(SECTOR)
/** More than a segment, at whose end the file is synced. */
const MAX_UNSYNCED_BYTES = 64 * WRITE_BYTES

/** What a file consists of, in order. */
export type FileItem =
  | {
      readonly kind: 'init'
      readonly at: number
      readonly size: number
      readonly tracks: readonly InitTrack[]
    }
  | {
      readonly kind: 'fragment'
      readonly at: number
      readonly size: number
      readonly tracks: readonly InitTrack[]
      readonly runs: readonly FragmentRun[]
    }

export const createRecordingFile = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600)

/** Whether it was closed to its end. */
export async function isClosed(handle: FileHandle): Promise<boolean> {
  return (await closedEnd(handle)) !== undefined
}

/** Makes a recording ready to be continued: opens a closed one, and cuts an interrupted one where a power loss left a hole. */
export async function reopen(handle: FileHandle): Promise<void> {
  const end = await closedEnd(handle)
  if (end === undefined) {
    await cutAtHole(handle)
    return
  }
  await handle.write(OPEN, 0, OPEN.length, MARK_AT)
  await handle.sync()
  await cutAt(handle, end)
}

/** What is appended afterwards must not have bytes of before in it, should the power fail before it is on disk. */
export async function cutAt(handle: FileHandle, end: number): Promise<void> {
  await handle.truncate(end)
  await handle.sync()
}

/**
 * A disk writes what was not synced in any order, so a fragment can be there with sectors of zeros. No codec writes as many
 * zeros in a row.
 */
async function cutAtHole(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat()
  const sectors = Buffer.allocUnsafe(WRITE_BYTES)
  const start = Math.max(0, size - MAX_UNSYNCED_BYTES)
  for (let at = start - (start % SECTOR); at < size; at += sectors.length) {
    const { bytesRead } = await handle.read(sectors, 0, sectors.length, at)
    for (let sector = 0; sector < bytesRead; sector += SECTOR) {
      const bytes = sectors.subarray(sector, Math.min(sector + SECTOR, bytesRead))
      if (!NO_BYTES.subarray(0, bytes.length).equals(bytes)) continue
      await cutAt(handle, at + sector)
      return
    }
  }
}

/**
 * Reports the init segments and fragments of a file, open or closed.
 *
 * @returns where the last whole fragment ends; undefined if there is none
 */
export async function readItems(
  handle: FileHandle,
  report: (item: FileItem) => void,
): Promise<number | undefined> {
  const size = (await closedEnd(handle)) ?? (await handle.stat()).size
  const source = new FileSource(handle, size)
  let tracks: readonly InitTrack[] | undefined
  let init: FileItem | undefined
  let end: number | undefined
  for (let at = FILE_START.length; ; ) {
    const header = await source.header(at)
    if (header?.type === 'ftyp') {
      const movie = await source.header(at + header.size)
      const initSize = header.size + (movie?.size ?? 0)
      const bytes = movie?.type === 'moov' ? await source.read(at, initSize, MAX_INIT_BYTES) : undefined
      tracks = bytes && readInit(bytes)
      if (tracks === undefined) return end
      init = { kind: 'init', at, size: initSize, tracks }
      at += initSize
    } else if (header?.type === 'moof' && tracks !== undefined) {
      const item = await readFragmentItem(source, at, header.size, tracks)
      if (item === undefined) return end
      if (init !== undefined) report(init)
      init = undefined
      report(item)
      at += item.size
      end = at
    } else return end
  }
}

async function readFragmentItem(
  source: FileSource,
  at: number,
  moofBytes: number,
  tracks: readonly InitTrack[],
): Promise<FileItem | undefined> {
  const moof = await source.read(at, moofBytes, MAX_MOOF_BYTES)
  const data = await source.header(at + moofBytes)
  const runs = moof && readFragment(moof)
  if (runs === undefined || runs.length === 0 || data?.type !== 'mdat') return undefined
  const size = moofBytes + data.size
  const isKnown = runs.every(run => tracks.some(({ id }) => id === run.trackId))
  const bytes = runs.reduce((sum, { samples }) => sum + samples.reduce((all, each) => all + each.size, 0), 0)
  const isWhole = at + size <= source.size && bytes + HEADER_BYTES === data.size
  return isKnown && isWhole ? { kind: 'fragment', at, size, tracks, runs } : undefined
}

/** Closes a recording whose fragments end here. */
export async function seal(handle: FileHandle, end: number): Promise<void> {
  const tables = new MovieTables()
  await readItems(handle, item => {
    if (item.kind === 'fragment' && item.at < end) tables.add(item.tracks, item.runs, item.at)
  })
  await handle.truncate(end)
  await writeAll(handle, tables.box(), end)
  await handle.sync()
  const header = Buffer.concat([uint32(1), text('mdat'), zeros(8)])
  header.writeBigUInt64BE(BigInt(end - MARK_AT), HEADER_BYTES)
  await handle.write(header, 0, header.length, MARK_AT)
  await handle.sync()
}

/** Writes pieces one behind another, some at a time. A disk that is nearly full takes a part, and fails with the next. */
export async function writeAll(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let at = position
  for (const bytes of joinSmall(pieces))
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at)
      done += bytesWritten
      at += bytesWritten
    }
}

function* joinSmall(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let some: Uint8Array[] = []
  let bytes = 0
  for (const piece of pieces) {
    some.push(piece)
    bytes += piece.length
    if (bytes < WRITE_BYTES) continue
    yield some.length === 1 ? piece : Buffer.concat(some)
    some = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(some)
}

/** Where the fragments of a closed file end; undefined if it is not closed. */
async function closedEnd(handle: FileHandle): Promise<number | undefined> {
  const { size } = await handle.stat()
  const source = new FileSource(handle, size)
  const start = await source.read(0, FILE_START.length, FILE_START.length)
  const mark = start && readMark(start)
  if (mark === undefined) return undefined
  const movie = await source.header(MARK_AT + mark)
  return movie?.type === 'moov' && MARK_AT + mark + movie.size === size ? MARK_AT + mark : undefined
}

/** The size of the `mdat` of a closed file. */
function readMark(start: Buffer): number | undefined {
  const type = start.toString('latin1', MARK_AT + 4, MARK_AT + 8)
  if (type !== 'mdat' || start.readUInt32BE(MARK_AT) !== 1) return undefined
  return Number(start.readBigUInt64BE(MARK_AT + HEADER_BYTES))
}

/** Reads a file some kilobytes at a time. */
class FileSource {
  readonly size: number
  readonly #handle: FileHandle
  #at = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.size = size
  }

  async header(at: number): Promise<{ readonly size: number; readonly type: string } | undefined> {
    const bytes = await this.read(at, HEADER_BYTES, HEADER_BYTES)
    return bytes && readHeader(bytes)
  }

  /** Undefined: the file is shorter, or the length is more than may be read. */
  async read(at: number, length: number, most: number): Promise<Buffer | undefined> {
    if (length > most || at + length > this.size) return undefined
    if (at < this.#at || at + length > this.#at + this.#bytes.length) {
      const wanted = Math.min(Math.max(length, READ_BYTES), this.size - at)
      const buffer = Buffer.allocUnsafeSlow(wanted)
      const { bytesRead } = await this.#handle.read(buffer, 0, wanted, at)
      this.#at = at
      this.#bytes = buffer.subarray(0, bytesRead)
      if (bytesRead < length) return undefined
    }
    return this.#bytes.subarray(at - this.#at, at - this.#at + length)
  }
}
