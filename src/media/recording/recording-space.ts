/** How much the folder of recordings may still take (D-262). Looked up from time to time, and counted in between. */
import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const GIBIBYTE = 1024 ** 3
/** Of the disk; the rest is for everything else. */
const FREE_BYTES = GIBIBYTE
const DEFAULT_SHARE = 0.8
const LOOK_MILLISECONDS = 10_000

export interface SpaceLimits {
  /** Undefined: a share of the disk. */
  readonly maxBytes?: number | undefined
  readonly freeBytes?: number
  readonly lookMilliseconds?: number
}

export class RecordingSpace {
  readonly #folder: string
  readonly #limits: SpaceLimits
  #bytesLeft = Number.POSITIVE_INFINITY
  #reason = ''
  #lookedAt = Number.NEGATIVE_INFINITY
  #look: Promise<void> | undefined

  constructor(folder: string, limits: SpaceLimits = {}) {
    this.#folder = folder
    this.#limits = limits
  }

  /** Takes room for so many bytes. Returns why there is none. */
  take(bytes: number): string | undefined {
    const { lookMilliseconds = LOOK_MILLISECONDS } = this.#limits
    if (performance.now() - this.#lookedAt > lookMilliseconds) void this.look()
    if (this.#bytesLeft < bytes) return this.#reason
    this.#bytesLeft -= bytes
    return undefined
  }

  /** Looks up what is left. A disk that does not answer is not full. */
  look(): Promise<void> {
    this.#lookedAt = performance.now()
    this.#look ??= this.#measure()
      .catch(() => undefined)
      .finally(() => {
        this.#look = undefined
      })
    return this.#look
  }

  async #measure(): Promise<void> {
    const { bavail, bsize, blocks } = await statfs(this.#folder)
    const { maxBytes = blocks * bsize * DEFAULT_SHARE, freeBytes = FREE_BYTES } = this.#limits
    const folderLeft = maxBytes - (await this.#sumFiles())
    const diskLeft = bavail * bsize - freeBytes
    this.#bytesLeft = Math.min(folderLeft, diskLeft)
    this.#reason =
      diskLeft < folderLeft
        ? `the disk has less than ${Math.round(freeBytes / 1024 ** 2)} MiB free`
        : 'the recordings take all the room of STRAND_RECORDINGS_GIB'
  }

  async #sumFiles(): Promise<number> {
    let bytes = 0
    for (const name of await readdir(this.#folder))
      bytes += await stat(join(this.#folder, name)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      )
    return bytes
  }
}
