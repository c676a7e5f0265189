/**
 * Measures what an encoder sends: bytes and frames since the last reading, the distance of key frames, and size, frame rate
 * and codecs as the encoder declares them.
 */
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
/** Of the four bits above the codec, or three if the header is enhanced. */
const KEY_FRAME = 1
const MAX_FRAME_RATE = 300
/** Frames that are missing, and tracks that are silent, are seen in at least so much time. */
const MIN_SPAN_MILLISECONDS = 2000
/** Between two frames, more than this is a jump of the encoder's clock. */
const MAX_STEP_MILLISECONDS = 10_000
/** Packets of video that carry no picture: the header of a sequence, its end, metadata of colours. */
const LEGACY_WITHOUT_PICTURE: ReadonlySet<number> = new Set([0, 2])
const ENHANCED_WITHOUT_PICTURE: ReadonlySet<number> = new Set([0, 2, 4])

export class EncoderMeter {
  #since: number
  #bytes = 0
  #frames = 0
  #metadata: Uint8Array | undefined
  #declared: DeclaredVideo = {}
  #video: number | string | undefined
  #audio: number | string | undefined
  /** What has arrived since a track was last looked for. */
  readonly #heard = new Set<MediaMessage['kind']>()
  /** Timestamps of the encoder, in milliseconds: of the last frame, and of the last key frame. */
  #frameAt: number | undefined
  #keyFrameAt: number | undefined
  #keyFrameMilliseconds: number | undefined
  /** The time that the frames since the last reading take, by their timestamps. */
  #span = 0

  /** Times are milliseconds of one clock that never goes back. */
  constructor(now: number) {
    this.#since = now
  }

  note({ kind, timestamp, payload }: MediaMessage): void {
    this.#bytes += payload.length
    this.#heard.add(kind)
    const [first = 0, second = 0] = payload
    if (kind === 'video') {
      const isEnhanced = (first & ENHANCED_VIDEO) !== 0
      this.#video = isEnhanced ? fourCharacters(payload) : first & 15
      const isLegacyFrame = (first & 15) < 7 || !LEGACY_WITHOUT_PICTURE.has(second)
      if (isEnhanced ? !ENHANCED_WITHOUT_PICTURE.has(first & 15) : isLegacyFrame)
        this.#noteFrame(timestamp, ((first >> 4) & 7) === KEY_FRAME)
    } else if (kind === 'audio') {
      this.#audio = first >> 4 === ENHANCED_AUDIO ? fourCharacters(payload) : first >> 4
    } else if (payload.length <= MAX_METADATA_BYTES) this.#metadata = Uint8Array.from(payload)
  }

  #noteFrame(timestamp: number, isKey: boolean): void {
    this.#frames += 1
    const step = (timestamp - (this.#frameAt ?? timestamp)) | 0
    this.#frameAt = timestamp
    if (step < 0 || step > MAX_STEP_MILLISECONDS) this.#keyFrameAt = undefined
    else this.#span += step
    if (!isKey) return
    if (this.#keyFrameAt !== undefined) this.#keyFrameMilliseconds = (timestamp - this.#keyFrameAt) | 0
    this.#keyFrameAt = timestamp
  }

  #forgetSilentTracks(): void {
    if (!this.#heard.has('video')) this.#video = undefined
    if (!this.#heard.has('audio')) this.#audio = undefined
    this.#heard.clear()
  }

  /** The time between key frames. While the next one does not come, it grows. */
  get #keyFrameSeconds(): number | undefined {
    if (this.#frameAt === undefined || this.#keyFrameAt === undefined) return undefined
    const running = (this.#frameAt - this.#keyFrameAt) | 0
    const milliseconds = Math.max(running, this.#keyFrameMilliseconds ?? running)
    return milliseconds === 0 ? undefined : Math.round(milliseconds / 100) / 10
  }

  get #missingPercent(): number | undefined {
    const { frameRate } = this.#declared
    if (frameRate === undefined || this.#span < MIN_SPAN_MILLISECONDS) return undefined
    const expected = (this.#span / 1000) * frameRate
    return Math.max(0, Math.round((1 - this.#frames / expected) * 100))
  }

  /** The rates since the last reading. */
  read(now: number) {
    const seconds = Math.max(now - this.#since, 1) / 1000
    if (seconds * 1000 >= MIN_SPAN_MILLISECONDS) this.#forgetSilentTracks()
    const video_codec = VIDEO_CODECS.get(this.#video ?? '')
    const audio_codec = AUDIO_CODECS.get(this.#audio ?? '')
    if (this.#metadata !== undefined) this.#declared = readDeclared(this.#metadata)
    const { size } = this.#declared
    const key_frame_seconds = this.#keyFrameSeconds
    const missing_frames_percent = this.#missingPercent
    const reading = {
      kilobits_per_second: Math.round((this.#bytes * 8) / 1000 / seconds),
      frames_per_second: Math.round((this.#frames / seconds) * 10) / 10,
      ...size,
      ...(video_codec !== undefined && { video_codec }),
      ...(audio_codec !== undefined && { audio_codec }),
      ...(key_frame_seconds !== undefined && { key_frame_seconds }),
      ...(missing_frames_percent !== undefined && { missing_frames_percent }),
    }
    this.#since = now
    this.#bytes = 0
    this.#frames = 0
    this.#span = 0
    this.#metadata = undefined
    return reading
  }
}

function fourCharacters(payload: Uint8Array): string {
  return String.fromCharCode(...payload.subarray(1, 5))
}

interface DeclaredVideo {
  readonly size?: { readonly width: number; readonly height: number }
  readonly frameRate?: number
}

/** Size and frame rate in the metadata of an encoder, which may contain anything. */
function readDeclared(metadata: Uint8Array): DeclaredVideo {
  try {
    const values = decodeAmf(metadata).find(value => value instanceof Map)
    const [width, height, frameRate] = ['width', 'height', 'framerate'].map(name => values?.get(name))
    return {
      ...(isPixels(width) && isPixels(height) && { size: { width, height } }),
      ...(isFrameRate(frameRate) && { frameRate }),
    }
  } catch {
    return {}
  }
}

const isFrameRate = (value: unknown): value is number =>
  typeof value === 'number' && value >= 1 && value <= MAX_FRAME_RATE

const isPixels = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_PIXELS
