/**
 * Thumbnails of live channels: a key frame of each broadcast is decoded when it begins and every 30 s after that. The
 * broadcasts themselves are the queue. The one that waits longest is next, so that a machine that cannot decode all of them
 * in 30 s decodes each of them less often. Requests only read what was decoded: they start nothing.
 */
import { repeatedly } from '../kit/lifetime.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Measured, Metrics } from '../kit/telemetry/metrics.ts'
import { type Decoding, decodeKeyFrame, type Jpeg, THUMBNAIL_SIZES } from './ffmpeg.ts'

const PERIOD_MILLISECONDS = 30_000
const LOOK_MILLISECONDS = 500
const CONCURRENCY = 2
/** Of all thumbnails of this process: those of several hundred channels. */
const MAX_BYTES = 128 * 1024 * 1024
/** The size that is kept with a recording. */
const KEPT = 1

export interface ThumbnailsOptions {
  /** The path of the program; undefined if there is none. */
  readonly ffmpeg: string | undefined
  readonly log: Log
  readonly periodMilliseconds?: number
  readonly lookMilliseconds?: number
  readonly maxBytes?: number
}

/** A channel while it is live on this node. */
export interface LiveChannel {
  readonly user_id: string
  /** A file with the latest key frame alone; undefined if there is none. */
  keyFrame(): Uint8Array | undefined
  /** Keeps a thumbnail with the recording of the broadcast. */
  keep?(jpeg: Uint8Array): Promise<void>
}

interface State {
  readonly channel: LiveChannel
  dueAt: number
  isDecoding: boolean
  hasFailed: boolean
  /** By size, as in `THUMBNAIL_SIZES`; empty before the first. */
  files: readonly Jpeg[]
}

export class Thumbnails implements Measured {
  readonly #options: ThumbnailsOptions
  readonly #maxBytes: number
  readonly #period: number
  /** By the id of the user. */
  readonly #live = new Map<string, State>()
  readonly #running = new Map<Decoding, Promise<void>>()
  readonly #looks: { stop(): Promise<void> } | undefined
  #bytes = 0
  #made = 0
  #failed = 0
  #isClosed = false

  constructor(options: ThumbnailsOptions) {
    this.#options = options
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#period = options.periodMilliseconds ?? PERIOD_MILLISECONDS
    if (options.ffmpeg === undefined) return
    this.#looks = repeatedly(
      options.lookMilliseconds ?? LOOK_MILLISECONDS,
      async () => this.#decodeDue(),
      error => options.log.warn({ error: String(error) }, 'decoding thumbnails failed'),
    )
  }

  /** Begins with a channel that went live. Returns how to end. */
  start(channel: LiveChannel): () => void {
    const { user_id } = channel
    const state = { channel, dueAt: performance.now(), isDecoding: false, hasFailed: false, files: [] }
    this.#end(user_id)
    this.#live.set(user_id, state)
    return () => {
      if (this.#live.get(user_id) === state) this.#end(user_id)
    }
  }

  /** Whether the channel is live on this node, with a thumbnail or without. */
  has(user_id: string): boolean {
    return this.#live.has(user_id)
  }

  /** The smallest JPEG that is at least as large as the size, or the largest one. */
  find(user_id: string, size: { readonly width: number; readonly height: number }): Jpeg | undefined {
    const fitting = THUMBNAIL_SIZES.findIndex(
      ({ width, height }) => width >= size.width && height >= size.height,
    )
    return this.#live.get(user_id)?.files.at(fitting)
  }

  measure(metrics: Metrics): void {
    metrics.counter('strand_media_thumbnails_total', 'Thumbnails of live channels, by result.', [
      [{ result: 'decoded' }, this.#made],
      [{ result: 'failed' }, this.#failed],
    ])
  }

  /** Resolves when no ffmpeg is running. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#looks?.stop()
    for (const decoding of this.#running.keys()) decoding.kill()
    await Promise.all(this.#running.values())
  }

  #end(user_id: string): void {
    const state = this.#live.get(user_id)
    if (state === undefined) return
    this.#live.delete(user_id)
    this.#bytes -= sumBytes(state.files)
  }

  #decodeDue(): void {
    const now = performance.now()
    const due = [...this.#live.values()]
      .filter(({ dueAt, isDecoding }) => dueAt <= now && !isDecoding)
      .sort((one, other) => one.dueAt - other.dueAt)
    for (const state of due) {
      if (this.#isClosed || this.#running.size >= CONCURRENCY) return
      const file = state.channel.keyFrame()
      if (file !== undefined) this.#decode(state, file)
    }
  }

  #decode(state: State, file: Uint8Array): void {
    const { ffmpeg = '' } = this.#options
    state.isDecoding = true
    state.dueAt = performance.now() + this.#period
    const decoding = decodeKeyFrame(ffmpeg, file)
    const done = decoding.files
      .then(
        files => this.#use(state, files),
        error => this.#fail(state, (error as Error).message),
      )
      .finally(() => {
        state.isDecoding = false
        this.#running.delete(decoding)
        this.#decodeDue()
      })
    this.#running.set(decoding, done)
  }

  async #use(state: State, files: readonly Jpeg[]): Promise<void> {
    const { channel } = state
    const added = sumBytes(files) - sumBytes(state.files)
    if (this.#live.get(channel.user_id) === state) {
      if (this.#bytes + added > this.#maxBytes) {
        this.#fail(state, 'the thumbnails of other channels take all memory for them')
        return
      }
      this.#bytes += added
      state.files = files
    }
    this.#made += 1
    const kept = files[KEPT]
    if (kept === undefined) return
    await channel.keep?.(kept).catch(error => this.#log(state, `keeping it failed: ${error}`))
  }

  /** A channel shows the thumbnail that it has, or none. */
  #fail(state: State, reason: string): void {
    if (this.#isClosed) return
    this.#failed += 1
    this.#log(state, reason)
  }

  /** Once per broadcast: the next thumbnails fail in the same way. */
  #log(state: State, reason: string): void {
    if (state.hasFailed) return
    state.hasFailed = true
    this.#options.log.warn({ user_id: state.channel.user_id, reason }, 'making a thumbnail failed')
  }
}

function sumBytes(files: readonly Jpeg[]): number {
  return files.reduce((bytes, file) => bytes + file.length, 0)
}
