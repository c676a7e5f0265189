import { link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { uuid } from '../../kit/id.ts'
import { LruCache } from '../../kit/lru-cache.ts'
import { fragmentSpan } from './mp4-reader.ts'
import { Recording, type RecordingOptions, writePlaylist } from './recording.ts'
import { isClosed, readItems } from './recording-file.ts'
import { RecordingPlaylist } from './recording-playlist.ts'
import { RecordingSpace, type SpaceLimits } from './recording-space.ts'

/** A recording, its playlist, its thumbnail, or one of these that was not written to its end. */
const FILE = /^([0-9]{1,19})\.(?:mp4|m3u8|m3u8\.part|jpg|jpg\.part)$/
const RECORDING = /^([0-9]{1,19})\.mp4$/
const FOLDER_ID = 'folder-id'
/** Playlists of closed recordings that are kept in memory. */
const MAX_PLAYLISTS = 64

export interface RecordingsOptions {
  readonly folder: string
  /** Of one recording. */
  readonly maxBytes: number
  /** Of all recordings. */
  readonly space?: SpaceLimits
}

type Reports = Pick<RecordingOptions, 'onPause' | 'onResume'>
const NO_REPORTS: Reports = { onPause: () => undefined, onResume: () => undefined }

/**
 * The recordings of this node: one file per video, named by its id, and next to it the playlist of one that is closed, and a
 * thumbnail. Those of streams that have not ended are open, with a publisher or without. Nodes may share a folder; its id is how
 * the store knows which files it has.
 */
export class Recordings {
  readonly #options: RecordingsOptions
  readonly #space: RecordingSpace
  /** By video. */
  readonly #open = new Map<string, Recording>()
  /** What is being opened or closed: a file is used by one at a time. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #playlists = new LruCache<Blob>(MAX_PLAYLISTS)
  #folderId: string | undefined

  constructor(options: RecordingsOptions) {
    this.#options = options
    this.#space = new RecordingSpace(options.folder, options.space)
  }

  /** The id of the folder, which it keeps; undefined before the first recording. */
  async folderId(): Promise<string | undefined> {
    const file = join(this.#options.folder, FOLDER_ID)
    const read = async () => (await readFile(file, 'utf8').catch(ifMissing(''))).trim() || undefined
    this.#folderId ??= await read()
    if (this.#folderId !== undefined) return this.#folderId
    try {
      // Of several processes that share the folder, one creates it.
      await writeFile(`${file}.${process.pid}`, uuid(), { mode: 0o600, flush: true })
      await link(`${file}.${process.pid}`, file).catch(() => undefined)
      await rm(`${file}.${process.pid}`, { force: true })
    } catch (error) {
      return ifMissing(undefined)(error as { code?: string })
    }
    this.#folderId = await read()
    return this.#folderId
  }

  /** The recording of a video, continued if there is one. */
  async record(video_id: string, reports: Reports = NO_REPORTS): Promise<Recording> {
    // What fails here fails with the first part, which is tried again.
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 }).catch(() => undefined)
    await this.#space.look()
    return this.#alone(video_id, async () => {
      const options = this.#recordingOptions(video_id, reports)
      const recording =
        this.#open.get(video_id) ?? (await Recording.reopen(options)) ?? new Recording(options)
      this.#hold(video_id, recording)
      return recording
    })
  }

  /** Opens a recording that there is, until its stream has ended. Undefined: there is none. */
  reopen(video_id: string): Promise<Recording | undefined> {
    return this.#alone(video_id, async () => {
      const options = this.#recordingOptions(video_id, NO_REPORTS)
      const recording = this.#open.get(video_id) ?? (await Recording.reopen(options))
      if (recording !== undefined) this.#hold(video_id, recording)
      return recording
    })
  }

  /** Closes a recording whose stream has ended; resolves when it is on disk. False: there is nothing. After an error it is open. */
  close(video_id: string): Promise<boolean> {
    return this.#alone(video_id, async () => {
      const isKept = (await this.#open.get(video_id)?.close()) ?? false
      this.#open.delete(video_id)
      return isKept
    })
  }

  /** The videos whose recordings are open. */
  get openIds(): string[] {
    return [...this.#open.keys()]
  }

  /** The recording of a video while it is open. */
  find(video_id: string): Recording | undefined {
    return this.#open.get(video_id)
  }

  /** Opens the recordings that a crash has interrupted, but not those that other nodes may be writing into the same folder. */
  async reopenInterrupted(isRunning: (video_id: string) => Promise<boolean>): Promise<void> {
    for (const id of await this.#listRecordings()) {
      if (this.#open.has(id) || (await this.#isClosed(id)) || (await isRunning(id))) continue
      await this.reopen(id)
    }
  }

  /** The videos whose recordings are closed, and their sizes, oldest first. */
  async closed(): Promise<{ readonly video_id: string; readonly bytes: number }[]> {
    const found: { video_id: string; bytes: number }[] = []
    for (const id of await this.#listRecordings()) {
      if (this.#open.has(id) || this.#busy.has(id) || !(await this.#isClosed(id))) continue
      const size = await stat(this.filePath(id)).then(each => each.size, ifMissing(undefined))
      if (size !== undefined) found.push({ video_id: id, bytes: size })
    }
    return found.sort((a, b) => Number(BigInt(a.video_id) - BigInt(b.video_id)))
  }

  /** Deletes the files of a recording that is elsewhere; not its thumbnail, and nothing while it is open. */
  removeUploaded(video_id: string): Promise<void> {
    return this.#alone(video_id, async () => {
      if (this.#open.has(video_id)) return
      const file = this.filePath(video_id)
      await rm(Recording.playlistFile(file), { force: true })
      await rm(file, { force: true })
      this.#playlists.delete(video_id)
    })
  }

  /** The playlist of a video; undefined if it has none here. */
  async playlist(
    video_id: string,
  ): Promise<{ readonly text: Blob; readonly isGrowing: boolean } | undefined> {
    const recording = this.#open.get(video_id)
    if (recording !== undefined) {
      const { playlist: text } = recording
      return text && { text, isGrowing: true }
    }
    const known = this.#playlists.get(video_id)
    if (known !== undefined) return { text: known, isGrowing: false }
    const text = await this.#readPlaylist(video_id)
    if (text === undefined || this.#open.has(video_id)) return undefined
    const blob = new Blob([text])
    this.#playlists.set(video_id, blob)
    return { text: blob, isGrowing: false }
  }

  filePath(video_id: string): string {
    return join(this.#options.folder, `${video_id}.mp4`)
  }

  thumbnailPath(video_id: string): string {
    return join(this.#options.folder, `${video_id}.jpg`)
  }

  /** Replaces the thumbnail of a video. A reader finds the previous one or this one, never a part. */
  async keepThumbnail(video_id: string, jpeg: Uint8Array): Promise<void> {
    const file = this.thumbnailPath(video_id)
    await writeFile(`${file}.part`, jpeg, { mode: 0o600 })
    await rename(`${file}.part`, file)
  }

  /** Undefined: the video has none here. */
  async readThumbnail(video_id: string): Promise<Buffer<ArrayBuffer> | undefined> {
    return readFile(this.thumbnailPath(video_id)).catch(ifMissing(undefined))
  }

  /** Deletes the recordings of videos that no longer exist, and stops those that are open. */
  async removeUnknown(
    knownOf: (video_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<number> {
    const ids = [...new Set((await this.#list()).flatMap(name => FILE.exec(name)?.[1] ?? []))]
    let removed = 0
    for (let at = 0; at < ids.length; at += 500) {
      const some = ids.slice(at, at + 500)
      const known = await knownOf(some)
      for (const id of some) {
        if (known.has(id)) continue
        this.#open.get(id)?.discard()
        await this.close(id)
        await this.#remove(id)
        removed += 1
      }
    }
    return removed
  }

  async #remove(video_id: string): Promise<void> {
    const [file, thumbnail] = [this.filePath(video_id), this.thumbnailPath(video_id)]
    const playlist = Recording.playlistFile(file)
    this.#playlists.delete(video_id)
    for (const each of [file, playlist, `${playlist}.part`, thumbnail, `${thumbnail}.part`])
      await rm(each, { force: true })
  }

  #hold(video_id: string, recording: Recording): void {
    this.#open.set(video_id, recording)
    this.#playlists.delete(video_id)
  }

  #recordingOptions(video_id: string, reports: Reports): RecordingOptions {
    const { maxBytes } = this.#options
    return { file: this.filePath(video_id), maxBytes, space: this.#space, ...reports }
  }

  /** From its file, or after a crash between the end of the recording and that file, from the recording. */
  async #readPlaylist(video_id: string): Promise<string | undefined> {
    const file = this.filePath(video_id)
    const text = await readFile(Recording.playlistFile(file), 'utf8').catch(ifMissing(undefined))
    if (text !== undefined) return text
    return this.#alone(video_id, async () => {
      const handle = await open(file, 'r').catch(ifMissing(undefined))
      if (handle === undefined) return undefined
      try {
        if (!(await isClosed(handle))) return undefined
        const playlist = new RecordingPlaylist(`${video_id}.mp4`)
        await readItems(handle, item => {
          const span = item.kind === 'fragment' ? fragmentSpan(item.runs, item.tracks) : undefined
          if (span !== undefined) playlist.add({ at: item.at, size: item.size, ...span })
          else playlist.addInit(item.at, item.size)
        })
        const read = playlist.finish()
        await writePlaylist(file, read)
        return read
      } finally {
        await handle.close()
      }
    })
  }

  async #alone<T>(video_id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(video_id)
    const done = (async () => {
      await before?.catch(() => undefined)
      return work()
    })()
    this.#busy.set(video_id, done)
    try {
      return await done
    } finally {
      if (this.#busy.get(video_id) === done) this.#busy.delete(video_id)
    }
  }

  async #isClosed(video_id: string): Promise<boolean> {
    const handle = await open(this.filePath(video_id), 'r').catch(() => undefined)
    if (handle === undefined) return true
    try {
      return await isClosed(handle)
    } finally {
      await handle.close()
    }
  }

  async #listRecordings(): Promise<string[]> {
    return (await this.#list()).flatMap(name => RECORDING.exec(name)?.[1] ?? [])
  }

  /** The folder is created with the first recording. */
  #list(): Promise<string[]> {
    return readdir(this.#options.folder).catch(ifMissing<string[]>([]))
  }
}

const ifMissing =
  <T>(otherwise: T) =>
  (error: { code?: string }): T => {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }
