/**
 * A recording on disk: the broadcast as an FLV file with an index, on the clock of its stream. Nothing here delays the
 * broadcast: frames wait in memory while the file is opened and written, and if too many wait, the recording stops.
 */
import { classifyMessage, flvTag } from './flv.ts'
import { noteKeyFrame, readMetadata } from './flv-index.ts'
import {
  openRecordingFile,
  type RecordingFile,
  readBack,
  unlessDamaged,
  writeAll,
  writeIndex,
} from './recording-file.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Written at once, or after this time. */
const FLUSH_BYTES = 256 * 1024
const FLUSH_MILLISECONDS = 1000
/** More than this waits for the disk: the recording stops. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** What a message takes beside its payload, before it is a tag. */
const EARLY_BYTES = 200
/** Audio and video are not further apart than this: the encoder counts from the start again. */
const STEP_BACK_MILLISECONDS = 5000
/** Further apart than this, the clock was set, or the timestamps jump: a publisher is not silent for so long. */
const DRIFT_MILLISECONDS = 30_000
/** What a tag can hold. */
const MAX_MILLISECONDS = 2 ** 32 - 1

export interface RecordingOptions {
  readonly file: string
  /** The position in the stream now, by the clock of the stream. */
  readonly positionNow: () => number
  readonly maxBytes: number
  /** Called once if the recording ends before the broadcast. */
  readonly onStop: (reason: string) => void
  /** The file may be opened after this. */
  readonly after?: Promise<unknown> | undefined
}

type Metadata = ReturnType<typeof readMetadata>

/** Where the timestamps of an encoder begin in the stream. */
interface Base {
  readonly timestamp: number
  /** The position by the clock of the stream. */
  readonly clock: number
  /** The position in the recording: the same, but after all that was recorded before. Set with the first frame. */
  position: number | undefined
}

interface TimedMessage {
  readonly message: MediaMessage
  readonly base: Base
  /** Milliseconds since the base. */
  readonly passed: number
}

export class Recording {
  readonly #options: RecordingOptions
  readonly #timer: ReturnType<typeof setInterval>
  /** Whether the file could be opened. */
  readonly opened: Promise<boolean>
  #file: RecordingFile | undefined
  /** What arrived before the file was open. */
  #early: TimedMessage[] = []
  #pending: Buffer[] = []
  /** Of all that waits. */
  #pendingBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #base: Base | undefined
  #latest = 0
  #metadata: Metadata | undefined
  #hasWrittenMetadata = false
  #hasFailed = false
  isDiscarded = false
  #isStopped = false
  #closing: Promise<void> | undefined

  constructor(options: RecordingOptions) {
    this.#options = options
    this.opened = this.#open()
    this.#timer = setInterval(() => this.#flush(), FLUSH_MILLISECONDS)
  }

  write(message: MediaMessage): void {
    if (this.#isStopped || this.#closing !== undefined) return
    if (message.kind === 'metadata')
      this.#keepMetadata(unlessDamaged(() => readMetadata(message.payload), this.#metadata))
    else this.#receive(this.#timed(message))
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#stop('the disk is too slow')
  }

  /** Its video was deleted: nothing more is written, and the file is the caller's to delete. */
  discard(): void {
    this.isDiscarded = true
    this.#stop('its video was deleted')
  }

  /** Writes the index, and resolves when everything is on disk. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #open(): Promise<boolean> {
    try {
      await this.#options.after
      this.#file = await openRecordingFile(this.#options.file)
    } catch (error) {
      this.#stop(`opening failed: ${errorCode(error)}`)
      return false
    }
    this.#keepMetadata(this.#metadata)
    this.#pendingBytes = 0
    for (const each of this.#early) this.#append(this.#file, each)
    this.#early = []
    return true
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    if (!(await this.opened) || this.#file === undefined) return
    const { handle, content } = this.#file
    this.#flush()
    await this.#writing
    try {
      const { metadata } = content
      await writeIndex(handle, this.#hasFailed ? { ...(await readBack(handle)), metadata } : content)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  #stop(reason: string): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#early = []
    this.#options.onStop(reason)
  }

  /** It is part of the index. Once it is also written before the end, for those who read the file after a crash. */
  #keepMetadata(metadata: Metadata | undefined): void {
    this.#metadata = metadata
    if (this.#file === undefined || metadata === undefined) return
    const { handle, content } = this.#file
    content.metadata = metadata
    if (!this.#hasWrittenMetadata)
      this.#queue(() => writeIndex(handle, { ...content, keyFrames: [], bytes: 0 }))
    this.#hasWrittenMetadata = true
  }

  #receive(timed: TimedMessage): void {
    if (this.#file === undefined) {
      this.#early.push(timed)
      this.#pendingBytes += timed.message.payload.length + EARLY_BYTES
    } else this.#append(this.#file, timed)
  }

  #append({ content }: RecordingFile, { message, base, passed }: TimedMessage): void {
    const last = content.milliseconds
    base.position ??= last === 0 ? base.clock : Math.max(base.clock, last + 1)
    // Never less than before, so that players do not stop.
    const timestamp = Math.min(Math.max(base.position + passed, last), MAX_MILLISECONDS)
    const tag = flvTag({ ...message, timestamp })
    if (content.bytes + tag.length > this.#options.maxBytes) this.#stop('it reached its maximum size')
    if (this.#isStopped) return
    if (classifyMessage(message) === 'key frame')
      noteKeyFrame(content.keyFrames, { milliseconds: timestamp, position: content.bytes })
    content.bytes += tag.length
    content.milliseconds = timestamp
    this.#pending.push(tag)
    this.#pendingBytes += tag.length
    if (this.#pendingBytes >= FLUSH_BYTES) this.#flush()
  }

  #timed(message: MediaMessage): TimedMessage {
    const { timestamp } = message
    const clock = this.#options.positionNow()
    const passedSince = (base: Base) => Math.max(0, (timestamp - base.timestamp) | 0)
    const driftFrom = (base: Base) => Math.abs(clock - base.clock - passedSince(base))
    const hasSteppedBack = ((timestamp - this.#latest) | 0) < -STEP_BACK_MILLISECONDS
    this.#latest = timestamp
    if (this.#base === undefined || hasSteppedBack || driftFrom(this.#base) > DRIFT_MILLISECONDS)
      this.#base = { timestamp, clock, position: undefined }
    return { message, base: this.#base, passed: passedSince(this.#base) }
  }

  #flush(): void {
    if (this.#file === undefined || this.#pending.length === 0) return
    const { handle, content } = this.#file
    const bytes = Buffer.concat(this.#pending)
    const position = content.bytes - bytes.length
    this.#pending = []
    this.#queue(async () => {
      await writeAll(handle, bytes, position)
      this.#pendingBytes -= bytes.length
    })
  }

  /** Writes in order, and nothing after a failure: what follows a gap could not be read. */
  #queue(write: () => Promise<void>): void {
    this.#writing = this.#writing
      .then(() => (this.#hasFailed ? undefined : write()))
      .catch(error => {
        this.#hasFailed = true
        this.#stop(`writing failed: ${errorCode(error)}`)
      })
  }
}

const errorCode = (error: unknown): string => (error as { code?: string }).code ?? String(error)
