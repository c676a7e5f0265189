import { mkdirSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Recording } from './recording.ts'

/** A recording, its thumbnail, or a thumbnail that was not written to its end. */
const FILE = /^([0-9]{1,19})\.(?:flv|jpg|jpg\.part)$/

/** A broadcast that is being recorded. */
export interface OpenRecording extends Pick<Recording, 'write' | 'close'> {
  keepThumbnail(jpeg: Uint8Array): Promise<void>
}

/** The recordings of this node: one file per video, named by its id, and one with its thumbnail. */
export class Recordings {
  readonly #folder: string
  readonly #maxBytes: number
  /** The videos that are being recorded. */
  readonly #open = new Set<string>()

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    mkdirSync(folder, { recursive: true, mode: 0o750 })
  }

  /** Records a broadcast; `offsetMilliseconds` is the time since the start of its stream. */
  async record(
    video_id: string,
    offsetMilliseconds: number,
    onStop: (reason: string) => void,
  ): Promise<OpenRecording> {
    this.#open.add(video_id)
    const file = this.fileOf(video_id)
    const recording = await Recording.open({ file, offsetMilliseconds, maxBytes: this.#maxBytes, onStop })
    return {
      write: message => recording.write(message),
      close: () => recording.close().finally(() => this.#open.delete(video_id)),
      keepThumbnail: jpeg => this.#keepThumbnail(video_id, jpeg),
    }
  }

  fileOf(video_id: string): string {
    return join(this.#folder, `${video_id}.flv`)
  }

  /** Undefined: the video has none here. */
  async readThumbnail(video_id: string): Promise<Buffer<ArrayBuffer> | undefined> {
    try {
      return await readFile(this.#thumbnailOf(video_id))
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Deletes the recordings of videos that no longer exist. */
  async removeUnknown(
    knownOf: (video_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<number> {
    const names = await readdir(this.#folder)
    const ids = [...new Set(names.flatMap(name => FILE.exec(name)?.[1] ?? []))]
    let removed = 0
    for (let at = 0; at < ids.length; at += 500) {
      const some = ids.slice(at, at + 500).filter(id => !this.#open.has(id))
      const known = await knownOf(some)
      for (const id of some) {
        if (known.has(id)) continue
        const thumbnail = this.#thumbnailOf(id)
        for (const file of [this.fileOf(id), thumbnail, `${thumbnail}.part`]) await rm(file, { force: true })
        removed += 1
      }
    }
    return removed
  }

  #thumbnailOf(video_id: string): string {
    return join(this.#folder, `${video_id}.jpg`)
  }

  /** Replaces the previous one. A reader finds either of them, never a part. */
  async #keepThumbnail(video_id: string, jpeg: Uint8Array): Promise<void> {
    const file = this.#thumbnailOf(video_id)
    await writeFile(`${file}.part`, jpeg, { mode: 0o640 })
    await rename(`${file}.part`, file)
  }
}
