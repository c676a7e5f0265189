/**
 * The index of a recording: times and positions of key frames, in the metadata at the start of the file. Players seek with
 * it. Its place is reserved when the file is created, so that closing a recording does not rewrite it.
 */
import { type Amf, decodeAmf, encodeAmf } from './rtmp/amf0.ts'

/** The size of the metadata, whatever it contains. */
export const INDEX_BYTES = 60_000
/** Two numbers of nine bytes each; the rest is for other metadata. */
const MAX_KEY_FRAMES = 2500
/** Of so many, every second one is dropped, so that a recording of any length has an index of bounded size. */
const MAX_NOTED = 2 * MAX_KEY_FRAMES
/** Metadata of the publisher that is kept; the rest does not fit or is ours. */
const MAX_FIELDS = 50
const MAX_TEXT = 200
const MAX_METADATA_BYTES = 12_000

export interface KeyFrame {
  readonly milliseconds: number
  readonly position: number
}

export interface RecordingIndex {
  readonly milliseconds: number
  readonly bytes: number
  readonly keyFrames: readonly KeyFrame[]
  /** The metadata of the publisher. */
  readonly metadata: ReadonlyMap<string, Amf>
}

/** Notes a key frame, and drops every second one when there are too many. */
export function noteKeyFrame(keyFrames: KeyFrame[], keyFrame: KeyFrame): void {
  keyFrames.push(keyFrame)
  if (keyFrames.length < MAX_NOTED) return
  const kept = keyFrames.filter((_, index) => index % 2 === 0)
  keyFrames.splice(0, keyFrames.length, ...kept)
}

const OURS = new Set(['duration', 'filesize', 'hasKeyframes', 'keyframes'])

/** Values of one byte each, which readers skip. */
const NULLS = Buffer.alloc(INDEX_BYTES, encodeAmf(null))

/** The payload of the metadata tag, padded to its fixed size. Of many key frames, every n-th is listed. */
export function encodeIndex({ milliseconds, bytes, keyFrames, metadata }: RecordingIndex): Buffer {
  const step = Math.ceil(keyFrames.length / MAX_KEY_FRAMES) || 1
  const listed = keyFrames.filter((_, index) => index % step === 0)
  const fields = new Map<string, Amf>([
    ...selectKept(metadata),
    ['duration', milliseconds / 1000],
    ['filesize', bytes],
    ['hasKeyframes', listed.length > 0],
  ])
  // Players take an empty list for an index, and fail to seek with it.
  if (listed.length > 0)
    fields.set(
      'keyframes',
      new Map<string, Amf>([
        ['filepositions', listed.map(({ position }) => position)],
        ['times', listed.map(each => each.milliseconds / 1000)],
      ]),
    )
  return Buffer.concat([encodeAmf('onMetaData', fields), NULLS], INDEX_BYTES)
}

function selectKept(metadata: ReadonlyMap<string, Amf>): [string, Amf][] {
  const isShort = (value: Amf) =>
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && Buffer.byteLength(value) <= MAX_TEXT)
  let bytes = 0
  return [...metadata]
    .filter(([name, value]) => !OURS.has(name) && Buffer.byteLength(name) <= MAX_TEXT && isShort(value))
    .slice(0, MAX_FIELDS)
    .filter(([name, value]) => {
      bytes += encodeAmf(name, value).length
      return bytes <= MAX_METADATA_BYTES
    })
}

/** The index in a payload; undefined if it was never written, because the recording was interrupted. */
export function decodeIndex(payload: Uint8Array): RecordingIndex | undefined {
  const [, fields] = decodeAmf(payload, { maxValues: 3 * MAX_KEY_FRAMES, first: 2 })
  if (!(fields instanceof Map)) return undefined
  const [duration, bytes, keyframes] = ['duration', 'filesize', 'keyframes'].map(name => fields.get(name))
  if (typeof duration !== 'number' || typeof bytes !== 'number' || bytes === 0) return undefined
  const listed = keyframes instanceof Map ? keyframes : new Map<string, Amf>()
  const [positions = [], times = []] = [listed.get('filepositions'), listed.get('times')]
  if (!Array.isArray(positions) || !Array.isArray(times)) return undefined
  const keyFrames = positions.map((position, index) => ({
    position: Number(position),
    milliseconds: Math.round(Number(times[index]) * 1000),
  }))
  const metadata = new Map([...fields].filter(([name]) => !OURS.has(name)))
  return { milliseconds: Math.round(duration * 1000), bytes, keyFrames, metadata }
}

/** The metadata of a publisher's message. */
export function readMetadata(payload: Uint8Array): ReadonlyMap<string, Amf> {
  const fields = decodeAmf(payload, { first: 3 }).find(value => value instanceof Map)
  return fields instanceof Map ? fields : new Map()
}
