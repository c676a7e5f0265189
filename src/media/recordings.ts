import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Recording } from './recording.ts'

const FILE = /^([0-9]{1,19})\.flv$/

/** The recordings of this node: one file per video, named by its id. */
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
  ): Promise<Pick<Recording, 'write' | 'close'>> {
    this.#open.add(video_id)
    const file = this.fileOf(video_id)
    const recording = await Recording.open({ file, offsetMilliseconds, maxBytes: this.#maxBytes, onStop })
    return {
      write: message => recording.write(message),
      close: () => recording.close().finally(() => this.#open.delete(video_id)),
    }
  }

  fileOf(video_id: string): string {
    return join(this.#folder, `${video_id}.flv`)
  }

  /** Deletes the recordings of videos that no longer exist. */
  async removeUnknown(
    knownOf: (video_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<number> {
    const ids = (await readdir(this.#folder)).flatMap(name => FILE.exec(name)?.[1] ?? [])
    let removed = 0
    for (let at = 0; at < ids.length; at += 500) {
      const some = ids.slice(at, at + 500).filter(id => !this.#open.has(id))
      const known = await knownOf(some)
      for (const id of some) {
        if (known.has(id)) continue
        await rm(this.fileOf(id), { force: true })
        removed += 1
      }
    }
    return removed
  }
}
