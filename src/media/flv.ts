/** FLV: a header, then tags. The payload of a tag is that of the RTMP message. */
import type { MediaMessage } from './rtmp/publisher.ts'

const TAG_TYPE = { audio: 8, video: 9, metadata: 18 } as const
export const TAG_HEADER_BYTES = 11
/** The header of a tag, and the size that follows it. */
export const TAG_BYTES = TAG_HEADER_BYTES + 4

/** With audio and video; the last four bytes are the size of the tag before the first one. */
export const FLV_HEADER: Uint8Array = Buffer.from([0x46, 0x4c, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0])

export function flvTag({ kind, timestamp, payload }: MediaMessage): Buffer {
  const size = payload.length
  const tag = Buffer.allocUnsafe(TAG_BYTES + size)
  tag.writeUInt8(TAG_TYPE[kind], 0)
  tag.writeUIntBE(size, 1, 3)
  tag.writeUIntBE(timestamp & 0xffffff, 4, 3)
  tag.writeUInt8(timestamp >>> 24, 7)
  tag.writeUIntBE(0, 8, 3)
  tag.set(payload, TAG_HEADER_BYTES)
  tag.writeUInt32BE(TAG_HEADER_BYTES + size, TAG_HEADER_BYTES + size)
  return tag
}

/** What a message means for those who join later. */
export type MediaRole = 'header' | 'key frame' | 'frame'

const AAC = 10
const AVC = 7
const HEVC = 12
const KEY_FRAME = 1
/** The first bit of an enhanced video header, whose codec is named by four characters. */
const ENHANCED = 0x80
/** Packets that carry no picture: the end of a sequence, and metadata of colours. Their header may look like a key frame. */
const SEQUENCE_END = 2
const COLOUR_METADATA = 4
/** The value of the audio codec of an enhanced audio header. */
const ENHANCED_AUDIO = 9

/** Decoders need headers before the first frame, and start at a key frame. */
export function classifyMessage({ kind, payload }: MediaMessage): MediaRole {
  const [first = 0, second = 0] = payload
  if (kind === 'metadata') return 'header'
  if (kind === 'audio') {
    const codec = first >> 4
    if (codec === ENHANCED_AUDIO) return (first & 15) === 0 ? 'header' : 'frame'
    return codec === AAC && second === 0 ? 'header' : 'frame'
  }
  if ((first & ENHANCED) !== 0) {
    const packet = first & 15
    if (packet === 0) return 'header'
    if (packet === SEQUENCE_END || packet === COLOUR_METADATA) return 'frame'
    return ((first >> 4) & 7) === KEY_FRAME ? 'key frame' : 'frame'
  }
  const codec = first & 15
  if (codec === AVC || codec === HEVC) {
    if (second === 0) return 'header'
    if (second === SEQUENCE_END) return 'frame'
  }
  return first >> 4 === KEY_FRAME ? 'key frame' : 'frame'
}
