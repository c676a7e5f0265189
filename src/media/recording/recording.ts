/**
 * The recording of a stream: appends the parts that the packager makes to a file, on the clock of the stream, so that a marker has
 * the same position in stream and recording. It belongs to the stream, not to a publisher: it stays open while no one publishes,
 * and is closed when the stream has ended.
 *
 *     part --decode times moved to the clock of the stream--> waits --> written --> listed in the playlist
 *                                                     |
 *            recording <--a part that needs no other--+--> paused: too much waits, no room, or writing failed
 *
 * Nothing here delays the broadcast. A pause drops parts, and the recording continues with the next part that needs no other as
 * soon as it can; what is missing is a gap (D-262). The file is created with the first part.
 *
 * What must hold:
 * - In each track, decode times never go back, whatever publishers and clocks do (`recording-clock.ts`).
 * - The playlist lists only what was written.
 */
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { TrackConfig } from '../codec-config.ts'
import { initSegment } from '../hls/fmp4.ts'
import type { CutPart } from '../hls/segmenter.ts'
import { fragmentSpan, HEADER_BYTES, readFragment, readHeader, writeTime } from './mp4-reader.ts'
import { RecordingClock } from './recording-clock.ts'
import {
  createRecordingFile,
  cutAt,
  FILE_START,
  type FileItem,
  readItems,
  reopen,
  seal,
  writeAll,
} from './recording-file.ts'
import { RecordingPlaylist } from './recording-playlist.ts'
import type { RecordingSpace } from './recording-space.ts'

/** More than this waits for the disk: parts are dropped. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** After a failure, the next attempt. */
const RETRY_MILLISECONDS = 5000
export interface RecordedPart extends Omit<CutPart, 'bytes'> {
  /** A fragment of MP4, as its bytes in order. The first has all but samples. */
  readonly pieces: readonly Uint8Array[]
  readonly tracks: readonly TrackConfig[]
  /** The same for all parts whose timestamps continue each other. */
  readonly stretch: object
  /** How far its start lies behind what was received last, in milliseconds. */
  readonly behind: number
}

export interface RecordingOptions {
  readonly file: string
  readonly maxBytes: number
  readonly space: RecordingSpace
  readonly retryMilliseconds?: number
  readonly onPause: (reason: string) => void
  readonly onResume: () => void
}

/** What is written together. */
interface Pending {
  readonly pieces: readonly Uint8Array[]
  readonly items: readonly FileItem[]
  readonly bytes: number
  endsSegment: boolean
}

export class Recording {
  readonly #options: RecordingOptions
  readonly #playlist: RecordingPlaylist
  #handle: FileHandle | undefined
  /** The end of the last fragment that was written, and of those that wait. */
  #written = 0
  #queued = 0
  #queue: Pending[] = []
  #last: Pending | undefined
  #pendingBytes = 0
  #writing: Promise<void> | undefined
  readonly #clock = new RecordingClock()
  #pausedFor: string | undefined
  #retryAt = 0
  #hasFragments = false
  #closing: Promise<boolean> | undefined
  #text: Blob | undefined
  isDiscarded = false
  /** Resolves with the first fragment on disk. */
  readonly started: Promise<void>
  #start: () => void

  constructor(options: RecordingOptions) {
    this.#options = options
    this.#playlist = new RecordingPlaylist(basename(options.file))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.started = promise
    this.#start = resolve
  }

  /** Continues a file that was closed or interrupted. One without a whole fragment is deleted. */
  static async reopen(options: RecordingOptions): Promise<Recording | undefined> {
    const handle = await open(options.file, 'r+').catch(() => undefined)
    if (handle === undefined) return undefined
    const recording = new Recording(options)
    try {
      await reopen(handle)
      const end = await readItems(handle, item => recording.#list(item))
      if (end === undefined) {
        await handle.close()
        await rm(options.file, { force: true })
        return undefined
      }
      await cutAt(handle, end)
      recording.#handle = handle
      recording.#written = end
      recording.#queued = end
      return recording
    } catch (error) {
      await handle.close().catch(() => undefined)
      throw error
    }
  }

  /** Milliseconds since the start of the stream that it has; undefined before the first fragment. */
  get milliseconds(): number | undefined {
    return this.#hasFragments ? this.#clock.milliseconds : undefined
  }

  /** How many bytes of the file can be read. */
  get bytes(): number {
    return this.#written
  }

  /** Undefined before the first entry. */
  get playlist(): Blob | undefined {
    const text = this.#text === undefined ? this.#playlist.growing : undefined
    if (text !== undefined) this.#text = new Blob([text])
    return this.#text
  }

  /** @param position in the stream now, in milliseconds */
  write(part: RecordedPart, position: number): void {
    if (this.isDiscarded || this.#closing !== undefined) return
    if (this.#pausedFor !== undefined && !this.#mayResume(part)) return
    const [first = Buffer.alloc(0), ...rest] = part.pieces
    const moofBytes = readHeader(Buffer.from(first.subarray(0, HEADER_BYTES)))?.size ?? 0
    const moof = Buffer.from(first.subarray(0, moofBytes))
    const runs = readFragment(moof)
    if (runs === undefined || runs.length === 0) return
    const clock = position - part.behind
    const isNew = this.#pausedFor !== undefined || this.#clock.isNewStretch(part, runs, clock)
    // Decoders start with a picture that needs no other.
    if (isNew && !part.isIndependent) return
    const stretch = isNew ? this.#clock.beginStretch(part, runs, clock) : this.#clock.stretch
    if (stretch === undefined) return
    const shifted = runs.map(run => {
      const baseDecodeTime = Math.max(0, run.baseDecodeTime + (stretch.shifts.get(run.trackId) ?? 0))
      writeTime(moof, run.timeAt, baseDecodeTime)
      return { ...run, baseDecodeTime }
    })
    const init = isNew ? Buffer.from(initSegment(part.tracks)) : Buffer.alloc(0)
    const start = this.#queued === 0 ? FILE_START : Buffer.alloc(0)
    const fragmentPieces = [moof, first.subarray(moofBytes), ...rest]
    const size = sumBytes(fragmentPieces)
    const pieces = [start, init, ...fragmentPieces]
    const bytes = start.length + init.length + size
    const reason = this.#noRoom(bytes)
    if (reason !== undefined) {
      this.#pause(reason)
      return
    }
    if (this.#pausedFor !== undefined) this.#options.onResume()
    this.#pausedFor = undefined
    this.#clock.stretch = stretch
    const { tracks } = stretch
    const initAt = this.#queued + start.length
    const at = initAt + init.length
    const fragment: FileItem = { kind: 'fragment', at, size, tracks, runs: shifted }
    const items: FileItem[] = isNew
      ? [{ kind: 'init', at: initAt, size: init.length, tracks }, fragment]
      : [fragment]
    this.#clock.noteEnds(shifted, tracks)
    this.#queued += bytes
    this.#pendingBytes += bytes
    this.#last = { pieces, items, bytes, endsSegment: false }
    this.#queue.push(this.#last)
    this.#writing ??= this.#writeQueue()
  }

  /** What was written last is a whole segment: it must survive a power loss. */
  endSegment(): void {
    if (this.#last !== undefined) this.#last.endsSegment = true
  }

  /** The publisher has left: the playlist lists all that was written. The next one begins another stretch. */
  async endStretch(): Promise<void> {
    const ended = this.#clock.stretch
    while (this.#writing !== undefined) await this.#writing
    if (this.#clock.stretch !== ended || this.#closing !== undefined) return
    this.#playlist.endStretch()
    this.#text = undefined
  }

  /** Its video was deleted: nothing more is written, and the file is the caller's to delete. */
  discard(): void {
    this.isDiscarded = true
    this.#queue = []
  }

  /** Resolves when the file is a plain MP4; false if there is none. What fails, on a full disk perhaps, can be tried again. */
  close(): Promise<boolean> {
    this.#closing ??= this.#close().catch(error => {
      this.#closing = undefined
      throw error
    })
    return this.#closing
  }

  /** The file of the playlist of a closed recording. */
  static playlistFile(file: string): string {
    return file.replace(/\.mp4$/, '.m3u8')
  }

  async #close(): Promise<boolean> {
    while (this.#writing !== undefined) await this.#writing
    const { file } = this.#options
    const handle = this.#handle
    if (handle === undefined) return false
    const isKept = this.#hasFragments && !this.isDiscarded
    if (isKept) {
      try {
        await seal(handle, this.#written)
      } catch (error) {
        await handle.truncate(this.#written).catch(() => undefined)
        throw error
      }
      await writePlaylist(file, this.#playlist.finish())
    } else if (!this.isDiscarded) await rm(file, { force: true })
    this.#handle = undefined
    await handle.close()
    return isKept
  }

  #mayResume({ isIndependent }: RecordedPart): boolean {
    return isIndependent && this.#pendingBytes < MAX_PENDING_BYTES / 2 && performance.now() >= this.#retryAt
  }

  #noRoom(bytes: number): string | undefined {
    const { maxBytes, space } = this.#options
    if (this.#pendingBytes + bytes > MAX_PENDING_BYTES) return 'the disk is too slow'
    if (this.#queued + bytes > maxBytes) return 'it reached its maximum size'
    return space.take(bytes)
  }

  #pause(reason: string): void {
    this.#retryAt = performance.now() + (this.#options.retryMilliseconds ?? RETRY_MILLISECONDS)
    if (this.#pausedFor === undefined && !this.isDiscarded) this.#options.onPause(reason)
    this.#pausedFor = reason
  }

  /** Writes in order. After a failure the file is cut behind the last whole fragment. */
  async #writeQueue(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const some = this.#queue
        this.#queue = []
        await this.#writeSome(some)
      }
    } catch (error) {
      await this.#fail(error)
    }
    this.#writing = this.#queue.length > 0 ? this.#writeQueue() : undefined
  }

  async #writeSome(some: readonly Pending[]): Promise<void> {
    const { file } = this.#options
    if (this.#handle === undefined) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      this.#handle = await createRecordingFile(file)
    }
    for (const pending of some) {
      const { pieces, items, bytes } = pending
      if (this.isDiscarded) return
      await writeAll(this.#handle, pieces, this.#written)
      this.#written += bytes
      this.#pendingBytes -= bytes
      for (const item of items) this.#list(item)
      if (pending.endsSegment) await this.#handle.datasync()
    }
  }

  #list(item: FileItem): void {
    this.#text = undefined
    const { at, size } = item
    if (item.kind === 'init') {
      this.#playlist.addInit(at, size)
      return
    }
    const span = fragmentSpan(item.runs, item.tracks)
    if (span === undefined) return
    this.#playlist.add({ at, size, ...span })
    this.#clock.noteEnds(item.runs, item.tracks)
    this.#hasFragments = true
    this.#start()
  }

  async #fail(error: unknown): Promise<void> {
    this.#queue = []
    this.#pendingBytes = 0
    this.#queued = this.#written
    this.#pause(`writing failed: ${(error as { code?: string }).code ?? String(error)}`)
    await this.#handle?.truncate(this.#written).catch(() => undefined)
    if (this.#hasFragments) return
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close().catch(() => undefined)
    await rm(this.#options.file, { force: true }).catch(() => undefined)
  }
}

/** Readers find the whole text or none. */
export async function writePlaylist(file: string, text: string): Promise<void> {
  const path = Recording.playlistFile(file)
  await writeFile(`${path}.part`, text, { mode: 0o600 })
  await rename(`${path}.part`, path)
}

export const sumBytes = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0)
