/** A recording on disk: the broadcast as an FLV file with an index, on the clock of its stream. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { FLV_HEADER, flvTag, roleOf, TAG_BYTES, TAG_HEADER_BYTES } from './flv.ts'
import { decodeIndex, encodeIndex, INDEX_BYTES, type KeyFrame, readMetadata } from './flv-index.ts'
import type { Amf } from './rtmp/amf0.ts'
import { ProtocolError } from './rtmp/protocol-error.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Where media begins, after the header and the index. */
const FIRST_TAG = FLV_HEADER.length + TAG_BYTES + INDEX_BYTES
/** Written at once, or after this time. */
const FLUSH_BYTES = 256 * 1024
const FLUSH_MILLISECONDS = 1000
/** More than this waits for the disk: the recording stops. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
const SCAN_BYTES = 1024 * 1024

/** What a recording contains so far. */
interface Content {
  bytes: number
  milliseconds: number
  keyFrames: KeyFrame[]
  metadata: ReadonlyMap<string, Amf>
}

export interface RecordingOptions {
  readonly file: string
  /** The position in the stream when the publisher began, by the clock of the stream. */
  readonly offsetMilliseconds: number
  readonly maxBytes: number
  /** Called once if the recording ends before the broadcast. */
  readonly onStop: (reason: string) => void
}

export class Recording {
  readonly #options: RecordingOptions
  readonly #handle: FileHandle
  readonly #content: Content
  readonly #timer: ReturnType<typeof setInterval>
  #pending: Buffer[] = []
  #pendingBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #firstTimestamp: number | undefined
  #isStopped = false

  /** Creates the file, or continues one whose publisher returned. */
  static async open(options: RecordingOptions): Promise<Recording> {
    const handle = await open(options.file, constants.O_RDWR | constants.O_CREAT, 0o640)
    try {
      const { size } = await handle.stat()
      const content = size < FIRST_TAG ? await begin(handle) : await readContent(handle, size)
      return new Recording(options, handle, content)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  private constructor(options: RecordingOptions, handle: FileHandle, content: Content) {
    this.#options = options
    this.#handle = handle
    this.#content = content
    this.#timer = setInterval(() => this.#flush(), FLUSH_MILLISECONDS)
  }

  write(message: MediaMessage): void {
    if (this.#isStopped) return
    if (message.kind === 'metadata') {
      this.#keepMetadata(message)
      return
    }
    const timestamp = this.#timeOf(message.timestamp)
    const tag = flvTag({ ...message, timestamp })
    const { bytes } = this.#content
    if (bytes + tag.length > this.#options.maxBytes) this.#stop('it reached its maximum size')
    else if (this.#pendingBytes + tag.length > MAX_PENDING_BYTES) this.#stop('the disk is too slow')
    if (this.#isStopped) return
    if (roleOf(message) === 'key frame')
      this.#content.keyFrames.push({ milliseconds: timestamp, position: bytes })
    this.#content.bytes += tag.length
    this.#content.milliseconds = timestamp
    this.#pending.push(tag)
    this.#pendingBytes += tag.length
    if (this.#pendingBytes >= FLUSH_BYTES) this.#flush()
  }

  /** Writes the index, and resolves when everything is on disk. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopped = true
    this.#flush()
    await this.#writing
    try {
      const index = { kind: 'metadata', timestamp: 0, payload: encodeIndex(this.#content) } as const
      await this.#handle.write(flvTag(index), 0, undefined, FLV_HEADER.length)
      await this.#handle.sync()
    } finally {
      await this.#handle.close()
    }
  }

  #stop(reason: string): void {
    this.#isStopped = true
    this.#options.onStop(reason)
  }

  /** Milliseconds since the start of the stream; never less than before, so that players do not stop. */
  #timeOf(timestamp: number): number {
    this.#firstTimestamp ??= timestamp
    const passed = (timestamp - this.#firstTimestamp) >>> 0
    // A difference of more than half the range is a step back.
    const time = this.#options.offsetMilliseconds + (passed > 0x7fffffff ? 0 : passed)
    return Math.max(time, this.#content.milliseconds)
  }

  #keepMetadata({ payload }: MediaMessage): void {
    try {
      this.#content.metadata = readMetadata(payload)
    } catch (error) {
      // Metadata is not needed to play.
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    const bytes = Buffer.concat(this.#pending)
    const position = this.#content.bytes - bytes.length
    this.#pending = []
    this.#writing = this.#writing
      .then(() => this.#handle.write(bytes, 0, undefined, position))
      .then(() => {
        this.#pendingBytes -= bytes.length
      })
      .catch(error => {
        if (!this.#isStopped)
          this.#stop(`writing failed: ${(error as { code?: string }).code ?? 'unknown error'}`)
      })
  }
}

async function begin(handle: FileHandle): Promise<Content> {
  const content: Content = { bytes: FIRST_TAG, milliseconds: 0, keyFrames: [], metadata: new Map() }
  // An index that claims no bytes marks a recording that was not closed.
  const index = encodeIndex({ ...content, bytes: 0 })
  await handle.write(
    Buffer.concat([FLV_HEADER, flvTag({ kind: 'metadata', timestamp: 0, payload: index })]),
    0,
  )
  return content
}

/** The content of an existing file: from its index, or if it was interrupted, from its tags up to the last whole one. */
async function readContent(handle: FileHandle, size: number): Promise<Content> {
  const payload = Buffer.alloc(INDEX_BYTES)
  await handle.read(payload, 0, INDEX_BYTES, FLV_HEADER.length + TAG_HEADER_BYTES)
  const index = decodeIndex(payload)
  if (index?.bytes === size) return { ...index, keyFrames: [...index.keyFrames] }
  const content = await scan(handle, size)
  await handle.truncate(content.bytes)
  return content
}

async function scan(handle: FileHandle, size: number): Promise<Content> {
  const content: Content = { bytes: FIRST_TAG, milliseconds: 0, keyFrames: [], metadata: new Map() }
  const buffer = Buffer.alloc(SCAN_BYTES)
  let start = 0
  let end = 0
  for (let position = FIRST_TAG; position + TAG_BYTES <= size; ) {
    if (position + TAG_HEADER_BYTES + 2 > end) {
      start = position
      end = start + (await handle.read(buffer, 0, SCAN_BYTES, start)).bytesRead
      if (position + TAG_HEADER_BYTES + 2 > end) break
    }
    const at = position - start
    const next = position + TAG_BYTES + buffer.readUIntBE(at + 1, 3)
    if (next > size) break
    const milliseconds = buffer.readUIntBE(at + 4, 3) + buffer.readUInt8(at + 7) * 2 ** 24
    const kind = buffer.readUInt8(at) === 9 ? 'video' : 'audio'
    const payload = buffer.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + 2)
    if (kind === 'video' && roleOf({ kind, timestamp: 0, payload }) === 'key frame')
      content.keyFrames.push({ milliseconds, position })
    content.milliseconds = milliseconds
    content.bytes = next
    position = next
  }
  return content
}
