/**
 * A recording on disk: the broadcast as an FLV file with an index, on the clock of its stream. Nothing here delays the
 * broadcast: frames wait in memory while the file is opened and written, and if too many wait, the recording stops.
 */
import { flvTag, roleOf } from './flv.ts'
import { readMetadata } from './flv-index.ts'
import { openRecordingFile, type RecordingFile, readBack, writeAll, writeIndex } from './recording-file.ts'
import { ProtocolError } from './rtmp/protocol-error.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Written at once, or after this time. */
const FLUSH_BYTES = 256 * 1024
const FLUSH_MILLISECONDS = 1000
/** More than this waits for the disk: the recording stops. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** Audio and video are not further apart than this: the encoder counts from the start again. */
const STEP_BACK_MILLISECONDS = 5000
/** A publisher is not silent for so long: the clock was set. */
const CLOCK_STEP_MILLISECONDS = 30_000

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

interface TimedMessage {
  readonly message: MediaMessage
  /** Milliseconds since the start of the stream. */
  readonly time: number
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
  #base: { readonly timestamp: number; readonly position: number } | undefined
  #latest = 0
  /** For those who read the file after a crash; once is enough. */
  #hasNotedMetadata = false
  #hasFailed = false
  #isStopped = false
  #closing: Promise<void> | undefined

  constructor(options: RecordingOptions) {
    this.#options = options
    this.opened = this.#open()
    this.#timer = setInterval(() => this.#flush(), FLUSH_MILLISECONDS)
  }

  write(message: MediaMessage): void {
    if (this.#isStopped || this.#closing !== undefined) return
    const time = message.kind === 'metadata' ? 0 : this.#timeOf(message.timestamp)
    if (this.#file !== undefined) this.#append(this.#file, { message, time })
    else {
      this.#early.push({ message, time })
      this.#pendingBytes += message.payload.length
    }
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#stop('the disk is too slow')
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
      this.#stop(`opening failed: ${codeOf(error)}`)
      return false
    }
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

  #append({ handle, content }: RecordingFile, { message, time }: TimedMessage): void {
    if (message.kind === 'metadata') {
      content.metadata = metadataIn(message) ?? content.metadata
      if (!this.#hasNotedMetadata)
        this.#queue(() => writeIndex(handle, { ...content, keyFrames: [], bytes: 0 }))
      this.#hasNotedMetadata = true
      return
    }
    // Never less than before, so that players do not stop.
    const timestamp = Math.max(time, content.milliseconds)
    const tag = flvTag({ ...message, timestamp })
    if (content.bytes + tag.length > this.#options.maxBytes) this.#stop('it reached its maximum size')
    if (this.#isStopped) return
    if (roleOf(message) === 'key frame')
      content.keyFrames.push({ milliseconds: timestamp, position: content.bytes })
    content.bytes += tag.length
    content.milliseconds = timestamp
    this.#pending.push(tag)
    this.#pendingBytes += tag.length
    if (this.#pendingBytes >= FLUSH_BYTES) this.#flush()
  }

  /** Milliseconds since the start of the stream. */
  #timeOf(timestamp: number): number {
    const position = this.#options.positionNow()
    const hasSteppedBack = ((timestamp - this.#latest) | 0) < -STEP_BACK_MILLISECONDS
    this.#latest = timestamp
    const base = this.#base ?? { timestamp, position }
    const time = base.position + Math.max(0, (timestamp - base.timestamp) | 0)
    this.#base = hasSteppedBack || position - time > CLOCK_STEP_MILLISECONDS ? { timestamp, position } : base
    return this.#base === base ? time : position
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
        this.#stop(`writing failed: ${codeOf(error)}`)
      })
  }
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? String(error)

/** Undefined if it cannot be read: it is not needed to play. */
function metadataIn({ payload }: MediaMessage): ReturnType<typeof readMetadata> | undefined {
  try {
    return readMetadata(payload)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return undefined
  }
}
