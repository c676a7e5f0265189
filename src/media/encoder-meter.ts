/** Measures what an encoder sends: bytes and frames since the last reading, size and codecs as the encoder declares them. */
import { decodeAmf } from './rtmp/amf0.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Metadata of encoders has a few hundred bytes. */
const MAX_METADATA_BYTES = 16 * 1024
const MAX_PIXELS = 16_384

/** Codecs by their number in FLV, and by the four characters of an enhanced header. */
const VIDEO_CODECS: ReadonlyMap<number | string, string> = new Map<number | string, string>([
  [2, 'Sorenson'],
  [4, 'VP6'],
  [7, 'H.264'],
  [12, 'H.265'],
  ['avc1', 'H.264'],
  ['hvc1', 'H.265'],
  ['av01', 'AV1'],
  ['vp08', 'VP8'],
  ['vp09', 'VP9'],
])
const AUDIO_CODECS: ReadonlyMap<number | string, string> = new Map<number | string, string>([
  [2, 'MP3'],
  [10, 'AAC'],
  [11, 'Speex'],
  ['mp4a', 'AAC'],
  ['Opus', 'Opus'],
  ['fLaC', 'FLAC'],
  ['ac-3', 'AC-3'],
])
const ENHANCED_VIDEO = 0x80
const ENHANCED_AUDIO = 9
/** Packets of video that carry no picture: the header of a sequence, its end, metadata of colours. */
const LEGACY_WITHOUT_PICTURE: ReadonlySet<number> = new Set([0, 2])
const ENHANCED_WITHOUT_PICTURE: ReadonlySet<number> = new Set([0, 2, 4])

export class EncoderMeter {
  #since: number
  #bytes = 0
  #frames = 0
  #metadata: Uint8Array | undefined
  #size: { width: number; height: number } | undefined
  #video: number | string | undefined
  #audio: number | string | undefined

  /** Times are milliseconds of one clock that never goes back. */
  constructor(now: number) {
    this.#since = now
  }

  note({ kind, payload }: MediaMessage): void {
    this.#bytes += payload.length
    const [first = 0, second = 0] = payload
    if (kind === 'video') {
      const isEnhanced = (first & ENHANCED_VIDEO) !== 0
      this.#video = isEnhanced ? fourCharacters(payload) : first & 15
      const isLegacyFrame = (first & 15) < 7 || !LEGACY_WITHOUT_PICTURE.has(second)
      if (isEnhanced ? !ENHANCED_WITHOUT_PICTURE.has(first & 15) : isLegacyFrame) this.#frames += 1
    } else if (kind === 'audio') {
      this.#audio = first >> 4 === ENHANCED_AUDIO ? fourCharacters(payload) : first >> 4
    } else if (payload.length <= MAX_METADATA_BYTES) this.#metadata = Uint8Array.from(payload)
  }

  /** The rates since the last reading. */
  read(now: number) {
    const seconds = Math.max(now - this.#since, 1) / 1000
    const video_codec = VIDEO_CODECS.get(this.#video ?? '')
    const audio_codec = AUDIO_CODECS.get(this.#audio ?? '')
    if (this.#metadata !== undefined) this.#size = sizeIn(this.#metadata)
    const reading = {
      kilobits_per_second: Math.round((this.#bytes * 8) / 1000 / seconds),
      frames_per_second: Math.round((this.#frames / seconds) * 10) / 10,
      ...this.#size,
      ...(video_codec !== undefined && { video_codec }),
      ...(audio_codec !== undefined && { audio_codec }),
    }
    this.#since = now
    this.#bytes = 0
    this.#frames = 0
    this.#metadata = undefined
    return reading
  }
}

function fourCharacters(payload: Uint8Array): string {
  return String.fromCharCode(...payload.subarray(1, 5))
}

/** Width and height in the metadata of an encoder, which may contain anything. */
function sizeIn(metadata: Uint8Array): { width: number; height: number } | undefined {
  try {
    const values = decodeAmf(metadata).find(value => value instanceof Map)
    const [width, height] = [values?.get('width'), values?.get('height')]
    return isPixels(width) && isPixels(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

const isPixels = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_PIXELS
