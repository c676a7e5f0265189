import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Recording, type RecordingOptions } from './recording.ts'
import { readLastMilliseconds } from './recording-file.ts'

/** A recording, its thumbnail, or a thumbnail that was not written to its end. */
const FILE = /^([0-9]{1,19})\.(?:flv|jpg|jpg\.part)$/

/** The recordings of this node: one file per video, named by its id, and one with its thumbnail. */
export class Recordings {
  readonly #folder: string
  readonly #maxBytes: number
  /** By video. */
  readonly #open = new Map<string, Recording>()

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Records a broadcast. A recording of the same video that is still open is closed first. */
  record(video_id: string, options: Pick<RecordingOptions, 'positionNow' | 'onStop'>): Recording {
    const previous = this.#open.get(video_id)
    const after = Promise.all([
      mkdir(this.#folder, { recursive: true, mode: 0o700 }),
      previous?.close().catch(() => undefined),
    ])
    const file = this.filePath(video_id)
    const recording = new Recording({ ...options, file, maxBytes: this.#maxBytes, after })
    this.#open.set(video_id, recording)
    return recording
  }

  /** Closes a recording; resolves when it is on disk. */
  async close(video_id: string, recording: Recording): Promise<void> {
    try {
      await recording.close()
    } finally {
      if (this.#open.get(video_id) === recording) this.#open.delete(video_id)
    }
  }

  /** Closes a recording that a crash has interrupted. */
  async repair(video_id: string): Promise<void> {
    const recording = this.record(video_id, { positionNow: () => 0, onStop: () => undefined })
    await this.close(video_id, recording)
  }

  /** The time of its last frame since the start of the stream; undefined if there is none. */
  lastMilliseconds(video_id: string): Promise<number | undefined> {
    return readLastMilliseconds(this.filePath(video_id))
  }

  filePath(video_id: string): string {
    return join(this.#folder, `${video_id}.flv`)
  }

  /** Replaces the thumbnail of a video. A reader finds the previous one or this one, never a part. */
  async keepThumbnail(video_id: string, jpeg: Uint8Array): Promise<void> {
    const file = this.#thumbnailPath(video_id)
    await writeFile(`${file}.part`, jpeg, { mode: 0o600 })
    await rename(`${file}.part`, file)
  }

  /** Undefined: the video has none here. */
  async readThumbnail(video_id: string): Promise<Buffer<ArrayBuffer> | undefined> {
    return readFile(this.#thumbnailPath(video_id)).catch(ifMissing(undefined))
  }

  /** Deletes the recordings of videos that no longer exist, and stops those that are open. */
  async removeUnknown(
    knownOf: (video_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<number> {
    // The folder is created with the first recording.
    const names = await readdir(this.#folder).catch(ifMissing<string[]>([]))
    const ids = [...new Set(names.flatMap(name => FILE.exec(name)?.[1] ?? []))]
    let removed = 0
    for (let at = 0; at < ids.length; at += 500) {
      const some = ids.slice(at, at + 500)
      const known = await knownOf(some)
      for (const id of some) {
        if (known.has(id)) continue
        this.#open.get(id)?.discard()
        this.#open.delete(id)
        const thumbnail = this.#thumbnailPath(id)
        for (const file of [this.filePath(id), thumbnail, `${thumbnail}.part`])
          await rm(file, { force: true })
        removed += 1
      }
    }
    return removed
  }

  #thumbnailPath(video_id: string): string {
    return join(this.#folder, `${video_id}.jpg`)
  }
}

const ifMissing =
  <T>(otherwise: T) =>
  (error: { code?: string }): T => {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }
