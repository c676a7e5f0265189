/**
 * Fragmented MP4 (ISO/IEC 14496-12) from descriptions: an init segment that describes the tracks, and fragments with their
 * samples. Times are counted in the timescale of a track: 90,000 a second for video, so that milliseconds are exact, and the
 * sample rate for audio.
 *
 *     ftyp moov             init segment
 *     moof mdat             fragment: for each track where its samples begin and how long each is, then all their bytes
 *
 * What must hold: a fragment needs nothing but the init segment to be read (its offsets count from its start), so that
 * fragments may be served alone or one after another.
 */
import type { TrackConfig } from '../codec-config.ts'
import {
  box,
  ENABLED_AND_IN_MOVIE,
  fullBox,
  MATRIX,
  text,
  UNKNOWN_LANGUAGE,
  uint16,
  uint32,
  zeros,
} from '../mp4-box.ts'

export const VIDEO_TIMESCALE = 90_000

/** The length of a second in the times of a track. */
export const timescale = ({ sampleRate }: TrackConfig): number => sampleRate ?? VIDEO_TIMESCALE

/** Times in units of the timescale. */
export interface Sample {
  readonly data: Uint8Array
  readonly duration: number
  readonly compositionOffset: number
  readonly isKey: boolean
}

export interface TrackRun {
  readonly trackId: number
  readonly kind: TrackConfig['kind']
  readonly baseDecodeTime: number
  readonly samples: readonly Sample[]
}

/** The id of a track is its position in the list, from 1. */
export function initSegment(tracks: readonly TrackConfig[]): Uint8Array {
  const movie = box(
    'moov',
    fullBox(
      'mvhd',
      0,
      0,
      zeros(8),
      uint32(1000),
      zeros(4),
      uint32(0x10000),
      uint16(0x100),
      zeros(10),
      MATRIX,
      zeros(24),
      uint32(tracks.length + 1),
    ),
    ...tracks.map((track, index) => trackBox(track, index + 1)),
    box('mvex', ...tracks.map((_, index) => fullBox('trex', 0, 0, uint32(index + 1), uint32(1), zeros(12)))),
  )
  return Buffer.concat([box('ftyp', text('iso6'), uint32(1), text('iso6cmfcmp41')), movie])
}

const MAX_UINT32 = 2 ** 32 - 1
/** The flags of a sample: whether others are needed to decode it. */
const KEY_FLAGS = 0x02000000
const FRAME_FLAGS = 0x01010000
/** Which fields a run has: the offset of its data, and for each sample duration, size, flags and composition offset. */
const RUN_FLAGS = { video: 0xf01, audio: 0x301 } as const
const SAMPLE_BYTES = { video: 16, audio: 8 } as const
const DEFAULT_BASE_IS_MOOF = 0x20000
const DEFAULT_FLAGS = 0x20
const MOOF_BYTES = 8 + 16
const TRAF_BYTES = 8 + 20 + 20 + 20

/** A fragment of more bytes is not copied into one buffer. */
const MAX_COPIED_BYTES = 1024 * 1024

export function fragment(sequence: number, runs: readonly TrackRun[]): Uint8Array {
  const pieces = fragmentPieces(sequence, runs)
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}

/** A fragment as its bytes in order. Small ones are one buffer: this is the work that every second of a broadcast costs. */
export function fragmentPieces(sequence: number, runs: readonly TrackRun[]): Uint8Array[] {
  const moofBytes = runs.reduce(
    (sum, { kind, samples }) => sum + TRAF_BYTES + samples.length * SAMPLE_BYTES[kind],
    MOOF_BYTES,
  )
  let dataBytes = 0
  for (const { samples } of runs) for (const { data } of samples) dataBytes += data.length
  const isCopied = dataBytes <= MAX_COPIED_BYTES
  const bytes = Buffer.allocUnsafeSlow(moofBytes + 8 + (isCopied ? dataBytes : 0))
  const pieces: Uint8Array[] = [bytes]
  let at = 0
  const put = (value: number) => {
    at = bytes.writeUInt32BE(value, at)
  }
  const header = (size: number, type: string) => {
    put(size)
    at += bytes.write(type, at, 'latin1')
  }
  header(moofBytes, 'moof')
  header(16, 'mfhd')
  put(0)
  put(sequence >>> 0)
  let dataAt = moofBytes + 8
  for (const { trackId, kind, baseDecodeTime, samples } of runs) {
    const sampleBytes = samples.length * SAMPLE_BYTES[kind]
    header(TRAF_BYTES + sampleBytes, 'traf')
    header(20, 'tfhd')
    put(DEFAULT_BASE_IS_MOOF | DEFAULT_FLAGS)
    put(trackId)
    put(KEY_FLAGS)
    header(20, 'tfdt')
    put(0x01000000)
    put(Math.floor(baseDecodeTime / 2 ** 32))
    put(baseDecodeTime % 2 ** 32)
    header(20 + sampleBytes, 'trun')
    put(0x01000000 | RUN_FLAGS[kind])
    put(samples.length)
    put(dataAt)
    for (const { data, duration, compositionOffset, isKey } of samples) {
      put(Math.min(Math.max(duration, 0), MAX_UINT32))
      put(data.length)
      if (kind === 'video') {
        put(isKey ? KEY_FLAGS : FRAME_FLAGS)
        put(compositionOffset >>> 0)
      }
      if (isCopied) bytes.set(data, dataAt)
      else pieces.push(data)
      dataAt += data.length
    }
  }
  header(8 + dataBytes, 'mdat')
  return pieces
}

function trackBox(track: TrackConfig, id: number): Buffer {
  const { kind, width = 0, height = 0 } = track
  const isVideo = kind === 'video'
  const place = uint16(0, 0, isVideo ? 0 : 0x100, 0)
  const size = uint32(width * 0x10000, height * 0x10000)
  return box(
    'trak',
    fullBox('tkhd', 0, ENABLED_AND_IN_MOVIE, zeros(8), uint32(id), zeros(16), place, MATRIX, size),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, zeros(8), uint32(timescale(track)), zeros(4), uint16(UNKNOWN_LANGUAGE, 0)),
      fullBox('hdlr', 0, 0, zeros(4), text(isVideo ? 'vide' : 'soun'), zeros(13)),
      box(
        'minf',
        isVideo ? fullBox('vmhd', 0, 1, zeros(8)) : fullBox('smhd', 0, 0, zeros(4)),
        box('dinf', fullBox('dref', 0, 0, uint32(1), fullBox('url ', 0, 1))),
        box(
          'stbl',
          fullBox('stsd', 0, 0, uint32(1), isVideo ? videoEntry(track) : audioEntry(track)),
          fullBox('stts', 0, 0, zeros(4)),
          fullBox('stsc', 0, 0, zeros(4)),
          fullBox('stsz', 0, 0, zeros(8)),
          fullBox('stco', 0, 0, zeros(4)),
        ),
      ),
    ),
  )
}

const VIDEO_BOXES = { avc: ['avc1', 'avcC'], hevc: ['hvc1', 'hvcC'], av1: ['av01', 'av1C'] } as const
const DOTS_PER_INCH = 72 * 0x10000
const COLOUR_DEPTH = 0x18

function videoEntry({ codec, config, width = 0, height = 0 }: TrackConfig): Buffer {
  const [entry, configuration] = VIDEO_BOXES[codec as keyof typeof VIDEO_BOXES]
  return box(
    entry,
    zeros(6),
    uint16(1),
    zeros(16),
    uint16(width, height),
    uint32(DOTS_PER_INCH, DOTS_PER_INCH),
    zeros(4),
    uint16(1),
    zeros(32),
    uint16(COLOUR_DEPTH, 0xffff),
    box(configuration, config),
  )
}

const OBJECT_TYPES: Readonly<Record<string, number>> = { 'mp4a.6B': 0x6b, 'mp4a.69': 0x69 }
const AAC_OBJECT_TYPE = 0x40
const AUDIO_STREAM = 0x15

function audioEntry({ codec, codecString, config, channels = 2, sampleRate = 0 }: TrackConfig): Buffer {
  // Rates above 65,535 do not fit; the configuration has them.
  const rate = sampleRate > 0xffff ? 0 : sampleRate
  const fields = [zeros(6), uint16(1), zeros(8), uint16(channels, 16, 0, 0), uint32(rate * 0x10000)]
  if (codec === 'opus') return box('Opus', ...fields, box('dOps', config))
  const object = OBJECT_TYPES[codecString] ?? AAC_OBJECT_TYPE
  const specific = config.length === 0 ? [] : [descriptor(5, config)]
  const decoder = descriptor(4, Buffer.from([object, AUDIO_STREAM]), zeros(11), ...specific)
  return box(
    'mp4a',
    ...fields,
    fullBox('esds', 0, 0, descriptor(3, zeros(3), decoder, descriptor(6, Buffer.from([2])))),
  )
}

/** A descriptor of MPEG-4 systems, whose length is written with seven bits in a byte. */
function descriptor(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 0)
  const length = [size >> 21, size >> 14, size >> 7, size].map(
    (part, index) => (part & 127) | (index < 3 ? 128 : 0),
  )
  return Buffer.concat([Buffer.from([tag, ...length]), ...content])
}
