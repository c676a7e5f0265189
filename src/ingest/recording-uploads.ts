/**
 * Uploads closed recordings to the bucket (D-263). The folder is the queue: what is closed and whose stream has ended is uploaded,
 * oldest first, some at a time, and deleted once the object has its size. A process that is killed begins again, and finds what it
 * has finished.
 *
 * A bucket that does not answer delays nothing but uploads: they are tried again after longer and longer times. Where nodes share
 * a folder, one of them uploads.
 *
 * Objects of deleted videos are deleted by walking along the rows of all files, so that it does not matter what deleted a video,
 * or whether the bucket answered at that time.
 */
import { uuid } from '../kit/id.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Measured, Metrics } from '../kit/telemetry/metrics.ts'
import { Outage } from '../kit/telemetry/outage.ts'
import { type Clock, isoMillis } from '../kit/time/clock.ts'
import { type Bucket, objectKey } from '../media/bucket.ts'
import type { Recordings } from '../media/recording/recordings.ts'
import type { RecordingFile } from '../store/queries/recording-files.ts'
import type { Store } from '../store/store.ts'

const CONCURRENCY = 2
const FIRST_RETRY_MILLISECONDS = 5000
const MAX_RETRY_MILLISECONDS = 300_000
const TURN_SECONDS = 20
const BATCH_SIZE = 500
/** An upload of another node that is older was not continued. */
const ABANDONED_MILLISECONDS = 24 * 3_600_000

interface UploadOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** Undefined: this node records nothing. */
  readonly recordings: Recordings | undefined
  /** Undefined: nothing is uploaded. */
  readonly bucket: Bucket | undefined
  /** Where viewers find this node, if there are others. */
  readonly watchUrl: string | null
  readonly firstRetryMilliseconds?: number
  /** The name of this process among those that share a folder. */
  readonly holder?: string
}

export class RecordingUploads implements Measured {
  readonly #options: UploadOptions
  readonly #holder: string
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopped = new AbortController()
  readonly #outage = new Outage()
  /** What waits or is being uploaded, in bytes. */
  #waiting: ReadonlyMap<string, number> = new Map()
  #failures = 0
  #retryAt = 0
  #stored = 0
  #failed = 0

  constructor(options: UploadOptions) {
    this.#options = options
    this.#holder = options.holder ?? uuid()
  }

  /** Starts uploads of what is closed. Called every few seconds. */
  async look(): Promise<void> {
    const { recordings, bucket, store } = this.#options
    if (recordings === undefined || bucket === undefined) return
    const closed = await recordings.closed()
    this.#waiting = new Map(closed.map(({ video_id, bytes }) => [video_id, bytes]))
    const idle = closed.map(({ video_id }) => video_id).filter(id => !this.#running.has(id))
    const folder = closed.length === 0 ? undefined : await recordings.folderId()
    if (folder === undefined) return
    // Held while uploads run, too.
    const turn = { name: `uploads ${folder}`, holder: this.#holder, seconds: TURN_SECONDS }
    if (!(await store.commands.takeTurn(turn))) return
    if (performance.now() < this.#retryAt) return
    for (let at = 0; at < idle.length && this.#running.size < CONCURRENCY; at += BATCH_SIZE) {
      const some = idle.slice(at, at + BATCH_SIZE)
      const running = await store.streams.runningVideos(some)
      const existing = await store.videos.existing(some)
      for (const id of some) {
        if (running.has(id) || !existing.has(id)) continue
        if (this.#stopped.signal.aborted || this.#running.size >= CONCURRENCY) return
        this.#start(id, this.#upload({ video_id: id, folder }, recordings, bucket))
      }
    }
  }

  /** Deletes the objects of deleted videos, and their rows. */
  async removeOrphans(): Promise<void> {
    const { store, recordings, clock } = this.#options
    const folder = await recordings?.folderId()
    const abandoned = isoMillis(clock.now() - ABANDONED_MILLISECONDS)
    for (let after = { video_id: '', part: 0 }; ; ) {
      const files = await store.recordingFiles.after(after, BATCH_SIZE)
      const existing = await store.videos.existing([...new Set(files.map(({ video_id }) => video_id))])
      for (const file of files) {
        if (existing.has(file.video_id) || this.#running.has(file.video_id)) continue
        // The process that uploads it deletes it.
        const isUploaded = file.state === 'uploading' && file.folder !== folder
        if (!isUploaded || file.changed_at < abandoned) await this.#removeOrphan(file)
      }
      const last = files.at(-1)
      if (last === undefined || files.length < BATCH_SIZE) return
      after = last
    }
  }

  measure(metrics: Metrics): void {
    const bytes = this.#waiting.values().reduce((sum, each) => sum + each, 0)
    metrics.gauge(
      'strand_recordings_waiting',
      'Closed recordings that are not in object storage.',
      this.#waiting.size,
    )
    metrics.gauge(
      'strand_recordings_waiting_bytes',
      'Bytes of closed recordings that are not in object storage.',
      bytes,
    )
    metrics.counter('strand_recording_uploads_total', 'Uploads of recordings, by result.', [
      [{ result: 'stored' }, this.#stored],
      [{ result: 'failed' }, this.#failed],
    ])
  }

  /** Stops uploads; a later start begins them again. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await Promise.all(this.#running.values())
  }

  #start(video_id: string, work: Promise<void>): void {
    const { log } = this.#options
    const upload = work
      .then(
        () => {
          this.#failures = 0
          const ended = this.#outage.end(performance.now())
          if (ended !== undefined) log.info({ ...ended }, 'uploading recordings failed; recovered')
        },
        error => this.#fail(video_id, error),
      )
      .finally(() => this.#running.delete(video_id))
    this.#running.set(video_id, upload)
  }

  #fail(video_id: string, error: unknown): void {
    const { log, firstRetryMilliseconds = FIRST_RETRY_MILLISECONDS } = this.#options
    if (this.#stopped.signal.aborted) return
    this.#failed += 1
    const wait = Math.min(firstRetryMilliseconds * 2 ** this.#failures, MAX_RETRY_MILLISECONDS)
    this.#failures += 1
    this.#retryAt = performance.now() + wait
    const report = this.#outage.fail(performance.now())
    if (report !== undefined)
      log.warn({ video_id, error: String(error), failures: report.failures }, 'uploading recordings failed')
  }

  async #upload(
    { video_id, folder }: Pick<RecordingFile, 'video_id' | 'folder'>,
    recordings: Recordings,
    bucket: Bucket,
  ): Promise<void> {
    const { store, clock, log, watchUrl } = this.#options
    const file = Bun.file(recordings.filePath(video_id))
    const { size } = file
    const playlist = await (await recordings.playlist(video_id))?.text.text()
    const started = { video_id, folder, url: watchUrl ?? '', now: clock.now() }
    const part = playlist && (await store.commands.startUpload({ ...started, playlist }))
    // Deleted meanwhile.
    if (playlist === undefined || part === undefined || part === '') return
    const key = objectKey({ video_id, part })
    if ((await bucket.size(key)) !== size) {
      try {
        await bucket.upload(key, file, 'video/mp4', this.#stopped.signal)
      } catch (error) {
        if (await file.exists()) throw error
        return
      }
      const found = await bucket.size(key)
      if (found !== size) throw new Error(`the object has ${found ?? 'no'} bytes instead of ${size}`)
    }
    const isKept = await store.commands.endUpload({ video_id, folder, playlist, now: clock.now() })
    if (!isKept) {
      await bucket.remove(key)
      return
    }
    await recordings.removeUploaded(video_id)
    this.#stored += 1
    log.info({ video_id, bytes: size }, 'recording uploaded')
  }

  async #removeOrphan(file: RecordingFile): Promise<void> {
    const { store, bucket } = this.#options
    const { video_id, folder, state } = file
    if (state !== 'local') {
      if (bucket === undefined) return
      await bucket.remove(objectKey(file))
    }
    await store.commands.forgetRecordingFile({ video_id, folder })
  }
}
