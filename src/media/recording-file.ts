/** The file of a recording: a header, the index, then tags. What it contains can be read back after a crash. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { classifyMessage, FLV_HEADER, flvTag, TAG_BYTES, TAG_HEADER_BYTES } from './flv.ts'
import {
  decodeIndex,
  encodeIndex,
  INDEX_BYTES,
  type KeyFrame,
  noteKeyFrame,
  type RecordingIndex,
  readMetadata,
} from './flv-index.ts'
import type { Amf } from './rtmp/amf0.ts'
import { ProtocolError } from './rtmp/protocol-error.ts'

/** Where media begins, after the header and the index. */
const FIRST_TAG = FLV_HEADER.length + TAG_BYTES + INDEX_BYTES
const SCAN_BYTES = 1024 * 1024

/** What a recording contains so far. */
export interface Content {
  bytes: number
  milliseconds: number
  keyFrames: KeyFrame[]
  metadata: ReadonlyMap<string, Amf>
}

export interface RecordingFile {
  readonly handle: FileHandle
  readonly content: Content
}

/** Creates the file, or continues one whose publisher returned. */
export async function openRecordingFile(path: string): Promise<RecordingFile> {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    const { size } = await handle.stat()
    return { handle, content: size < FIRST_TAG ? await begin(handle) : await readContent(handle, size) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A disk that is nearly full takes a part, and fails with the next. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** An index that claims no bytes marks a recording that was not closed. */
export async function writeIndex(handle: FileHandle, index: RecordingIndex): Promise<void> {
  const payload = encodeIndex(index)
  await writeAll(handle, flvTag({ kind: 'metadata', timestamp: 0, payload }), FLV_HEADER.length)
}

/** The content by the tags of the file, up to the last whole one; the rest is cut off. */
export async function readBack(handle: FileHandle): Promise<Content> {
  const { size } = await handle.stat()
  const content = await scan(handle, size)
  await handle.truncate(content.bytes)
  return content
}

/** The time of the last whole tag; undefined if there is no such file, or nothing in it. */
export async function readLastMilliseconds(path: string): Promise<number | undefined> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const { size } = await handle.stat()
    const header = Buffer.alloc(TAG_HEADER_BYTES)
    const length = Buffer.alloc(4)
    await handle.read(length, 0, length.length, Math.max(0, size - length.length))
    const start = size - length.length - length.readUInt32BE(0)
    if (start >= FIRST_TAG) {
      await handle.read(header, 0, header.length, start)
      if (header.readUIntBE(1, 3) + TAG_BYTES === size - start) return timeIn(header)
    }
    // A crash may cut the last one: it is found from the start.
    const { bytes, milliseconds } = await scan(handle, size)
    return bytes > FIRST_TAG ? milliseconds : undefined
  } finally {
    await handle.close()
  }
}

const emptyContent = (): Content => ({
  bytes: FIRST_TAG,
  milliseconds: 0,
  keyFrames: [],
  metadata: new Map(),
})

async function begin(handle: FileHandle): Promise<Content> {
  const content = emptyContent()
  await writeAll(handle, FLV_HEADER, 0)
  await writeIndex(handle, { ...content, bytes: 0 })
  return content
}

/** From the index, or if the recording was interrupted, from its tags. */
async function readContent(handle: FileHandle, size: number): Promise<Content> {
  const payload = Buffer.alloc(INDEX_BYTES)
  await handle.read(payload, 0, INDEX_BYTES, FLV_HEADER.length + TAG_HEADER_BYTES)
  const index = unlessDamaged(() => decodeIndex(payload), undefined)
  if (index?.bytes === size) return { ...index, keyFrames: [...index.keyFrames] }
  const metadata = unlessDamaged(() => readMetadata(payload), new Map())
  return { ...(await readBack(handle)), metadata }
}

/** Metadata may contain anything, and is not needed to play. */
export function unlessDamaged<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return otherwise
  }
}

async function scan(handle: FileHandle, size: number): Promise<Content> {
  const content = emptyContent()
  const buffer = Buffer.alloc(SCAN_BYTES)
  let start = 0
  let end = 0
  for (let position = FIRST_TAG; position + TAG_BYTES <= size; ) {
    if (position + TAG_HEADER_BYTES + 2 > end) {
      start = position
      end = start + (await handle.read(buffer, 0, SCAN_BYTES, start)).bytesRead
      if (position + TAG_HEADER_BYTES + 2 > end) break
    }
    const tag = buffer.subarray(position - start)
    const next = position + TAG_BYTES + tag.readUIntBE(1, 3)
    const kind = KINDS.get(tag.readUInt8(0))
    // A power loss may leave zeros where data was not written yet.
    if (next > size || kind === undefined) break
    const milliseconds = timeIn(tag)
    const payload = tag.subarray(TAG_HEADER_BYTES, TAG_HEADER_BYTES + 2)
    if (kind === 'video' && classifyMessage({ kind, timestamp: 0, payload }) === 'key frame')
      noteKeyFrame(content.keyFrames, { milliseconds, position })
    content.milliseconds = milliseconds
    content.bytes = next
    position = next
  }
  return content
}

const KINDS: ReadonlyMap<number, 'audio' | 'video'> = new Map([
  [8, 'audio'],
  [9, 'video'],
])

const timeIn = (tag: Buffer): number => tag.readUIntBE(4, 3) + tag.readUInt8(7) * 2 ** 24
