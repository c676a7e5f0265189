/**
 * An audio or video message of RTMP as a packet: what it carries, when it is decoded, and its payload without the header.
 *
 * Two kinds of header exist. The older one is that of FLV: the codec is a number. In the enhanced one the codec is named by
 * four characters, which made room for HEVC, AV1 and Opus. Both are a few bytes in front of the payload.
 *
 * What must hold: any bytes give a packet or undefined, without an error and without a copy. Messages that carry nothing to
 * decode (the end of a sequence, metadata of colours, commands of Flash players) and codecs that MP4 is not used for are
 * undefined.
 */
import type { MediaMessage } from './rtmp/publisher.ts'

export type Codec = 'avc' | 'hevc' | 'av1' | 'aac' | 'opus' | 'mp3'

export interface Packet {
  readonly kind: 'audio' | 'video'
  readonly codec: Codec
  /** `config`: the payload is the configuration of the decoder, such as avcC or AudioSpecificConfig. */
  readonly role: 'config' | 'key frame' | 'frame'
  /** The decode time in milliseconds, modulo 2^32. */
  readonly timestamp: number
  /** Milliseconds from the decode time to the time of display; 0 for audio. */
  readonly compositionOffset: number
  readonly data: Uint8Array
}

const LEGACY_VIDEO: ReadonlyMap<number, Codec> = new Map([
  [7, 'avc'],
  [12, 'hevc'],
])
const LEGACY_AAC = 10
const LEGACY_MP3: ReadonlySet<number> = new Set([2, 14])
const ENHANCED_VIDEO = 0x80
const ENHANCED_AUDIO = 9
const FOUR_CHARACTERS: ReadonlyMap<string, Codec> = new Map([
  ['avc1', 'avc'],
  ['hvc1', 'hevc'],
  ['av01', 'av1'],
])
const FOUR_CHARACTERS_AUDIO: ReadonlyMap<string, Codec> = new Map([
  ['mp4a', 'aac'],
  ['Opus', 'opus'],
  ['.mp3', 'mp3'],
])
const KEY_FRAME = 1
/** A command to Flash players instead of a picture. */
const COMMAND_FRAME = 5
/** Types of packets: a configuration, frames, and frames without a composition offset. */
const [CONFIG, FRAMES, FRAMES_WITHOUT_OFFSET] = [0, 1, 3]
const MP3_HEADER_BYTES = 4

export function readPacket({ kind, timestamp, payload }: MediaMessage): Packet | undefined {
  if (kind === 'metadata' || payload.length === 0) return undefined
  const found = kind === 'audio' ? readAudio(payload) : readVideo(payload)
  return found === undefined || found.data.length === 0 ? undefined : { kind, timestamp, ...found }
}

type Content = Pick<Packet, 'codec' | 'role' | 'compositionOffset' | 'data'>

function readAudio(payload: Uint8Array): Content | undefined {
  const [first = 0, second = 0] = payload
  const codec = first >> 4
  const compositionOffset = 0
  if (codec === LEGACY_AAC)
    return {
      codec: 'aac',
      role: second === CONFIG ? 'config' : 'frame',
      compositionOffset,
      data: payload.subarray(2),
    }
  if (LEGACY_MP3.has(codec))
    return wholeMp3({ codec: 'mp3', role: 'frame', compositionOffset, data: payload.subarray(1) })
  if (codec !== ENHANCED_AUDIO) return undefined
  const named = FOUR_CHARACTERS_AUDIO.get(fourCharacters(payload))
  const type = first & 15
  if (named === undefined || (type !== CONFIG && type !== FRAMES)) return undefined
  const role = type === CONFIG ? 'config' : 'frame'
  const content = { codec: named, role, compositionOffset, data: payload.subarray(5) } as const
  return named === 'mp3' ? wholeMp3(content) : content
}

/** The header of every frame of MP3 is its configuration. */
const wholeMp3 = (content: Content): Content | undefined =>
  content.role === 'frame' && content.data.length > MP3_HEADER_BYTES ? content : undefined

function readVideo(payload: Uint8Array): Content | undefined {
  const [first = 0, second = 0] = payload
  const frameType = (first >> 4) & 7
  if (frameType === COMMAND_FRAME) return undefined
  const role = frameType === KEY_FRAME ? 'key frame' : 'frame'
  if ((first & ENHANCED_VIDEO) === 0) {
    const codec = LEGACY_VIDEO.get(first & 15)
    if (codec === undefined || payload.length < 5 || second > FRAMES) return undefined
    const data = payload.subarray(5)
    if (second === CONFIG) return { codec, role: 'config', compositionOffset: 0, data }
    return { codec, role, compositionOffset: readInt24(payload, 2), data }
  }
  const codec = FOUR_CHARACTERS.get(fourCharacters(payload))
  const type = first & 15
  if (codec === undefined) return undefined
  if (type === CONFIG) return { codec, role: 'config', compositionOffset: 0, data: payload.subarray(5) }
  // AV1 shows pictures in the order in which it has them.
  if (type === FRAMES_WITHOUT_OFFSET || (type === FRAMES && codec === 'av1'))
    return { codec, role, compositionOffset: 0, data: payload.subarray(5) }
  if (type !== FRAMES || payload.length < 8) return undefined
  return { codec, role, compositionOffset: readInt24(payload, 5), data: payload.subarray(8) }
}

function readInt24(bytes: Uint8Array, at: number): number {
  const [high = 0, middle = 0, low = 0] = bytes.subarray(at, at + 3)
  return ((high << 24) | (middle << 16) | (low << 8)) >> 8
}

function fourCharacters(payload: Uint8Array): string {
  return String.fromCharCode(...payload.subarray(1, 5))
}
