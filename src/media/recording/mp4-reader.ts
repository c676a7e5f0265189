/**
 * Reads init segments and fragments as `fmp4.ts` writes them: what a recording needs to know of its file. Pure and bounded:
 * any bytes give a description or undefined, without an error. A box that does not fit into the one around it, or lacks a
 * field, makes the whole undefined.
 */
import { VIDEO_TIMESCALE } from '../hls/fmp4.ts'

export const HEADER_BYTES = 8
/** A fragment has at most some thousand samples. */
export const MAX_MOOF_BYTES = 1024 * 1024
/** Configurations are bounded, so init segments are too. */
export const MAX_INIT_BYTES = 1024 * 1024

export interface InitTrack {
  readonly id: number
  readonly kind: 'audio' | 'video'
  readonly scale: number
  /** Pixels; 0 for audio. */
  readonly width: number
  readonly height: number
  /** The box that describes its samples. */
  readonly entry: Uint8Array
}

/** Times in units of the timescale of its track. */
interface FragmentSample {
  readonly size: number
  readonly duration: number
  readonly compositionOffset: number
  readonly isKey: boolean
}

export interface FragmentRun {
  readonly trackId: number
  readonly baseDecodeTime: number
  /** Where the field with the decode time is. */
  readonly timeAt: number
  /** Where its samples begin, from the start of the fragment. */
  readonly dataAt: number
  readonly samples: readonly FragmentSample[]
}

/** The size and the type of the box that begins here. */
export function readHeader(
  bytes: Buffer,
  at = 0,
): { readonly size: number; readonly type: string } | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined
  const size = bytes.readUInt32BE(at)
  return size < HEADER_BYTES ? undefined : { size, type: bytes.toString('latin1', at + 4, at + 8) }
}

/** The tracks of an init segment, without those that are neither audio nor video. */
export function readInit(init: Buffer): InitTrack[] | undefined {
  return unlessShort(() => {
    const movie = child(init, 'moov')
    if (movie === undefined) return undefined
    const tracks = children(movie).filter(({ type }) => type === 'trak')
    return tracks.map(({ content }) => readTrack(content))
  })
}

function readTrack(track: Buffer): InitTrack {
  const header = required(track, 'tkhd')
  const media = required(track, 'mdia')
  const kind = required(media, 'hdlr').toString('latin1', 8, 12) === 'vide' ? 'video' : 'audio'
  const samples = required(required(required(media, 'minf'), 'stbl'), 'stsd')
  return {
    id: header.readUInt32BE(12),
    kind,
    scale: Math.max(1, required(media, 'mdhd').readUInt32BE(12)),
    width: header.readUInt32BE(76) >>> 16,
    height: header.readUInt32BE(80) >>> 16,
    entry: Buffer.from(samples.subarray(8)),
  }
}

/** The runs of a `moof`. */
export function readFragment(moof: Buffer): FragmentRun[] | undefined {
  return unlessShort(() => {
    const header = readHeader(moof)
    if (header?.type !== 'moof' || header.size > moof.length) return undefined
    return children(moof.subarray(HEADER_BYTES, header.size), HEADER_BYTES)
      .filter(({ type }) => type === 'traf')
      .map(({ content, at }) => readRun(content, at))
  })
}

const HAS_COMPOSITION_OFFSET = 0x800
const IS_NO_KEY = 0x10000

function readRun(fragment: Buffer, at: number): FragmentRun {
  const boxes = children(fragment, at)
  const find = (name: string) => assertWhole(boxes.find(({ type }) => type === name))
  const [time, run] = [find('tfdt'), find('trun')]
  const isVideo = (run.content.readUInt32BE(0) & HAS_COMPOSITION_OFFSET) !== 0
  const count = run.content.readUInt32BE(4)
  const bytes = isVideo ? 16 : 8
  if (12 + count * bytes !== run.content.length) throw new ShortBox()
  const samples = Array.from({ length: count }, (_, index): FragmentSample => {
    const from = 12 + index * bytes
    return {
      duration: run.content.readUInt32BE(from),
      size: run.content.readUInt32BE(from + 4),
      isKey: !isVideo || (run.content.readUInt32BE(from + 8) & IS_NO_KEY) === 0,
      compositionOffset: isVideo ? run.content.readInt32BE(from + 12) : 0,
    }
  })
  return {
    trackId: find('tfhd').content.readUInt32BE(4),
    baseDecodeTime: readTime(time.content, 4),
    timeAt: time.at + 4,
    dataAt: run.content.readUInt32BE(8),
    samples,
  }
}

const readTime = (bytes: Buffer, at: number) => bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)

export function writeTime(bytes: Buffer, at: number, time: number): void {
  bytes.writeUInt32BE(Math.floor(time / 2 ** 32), at)
  bytes.writeUInt32BE(time % 2 ** 32, at + 4)
}

/** When a fragment begins and ends, in ticks of 1/90,000 s, by its first track: that is video if it has video. */
export function fragmentSpan(
  runs: readonly FragmentRun[],
  tracks: readonly InitTrack[],
): { readonly from: number; readonly to: number; readonly isIndependent: boolean } | undefined {
  const [first] = runs
  const track = tracks.find(({ id }) => id === first?.trackId)
  if (first === undefined || track === undefined) return undefined
  const duration = first.samples.reduce((sum, sample) => sum + sample.duration, 0)
  const toTicks = (time: number) => (time * VIDEO_TIMESCALE) / track.scale
  const hasVideo = tracks.some(({ kind }) => kind === 'video')
  return {
    from: toTicks(first.baseDecodeTime),
    to: toTicks(first.baseDecodeTime + duration),
    isIndependent: first.samples[0]?.isKey === true && (track.kind === 'video' || !hasVideo),
  }
}

interface Box {
  readonly type: string
  readonly content: Buffer
  /** Where its content begins. */
  readonly at: number
}

class ShortBox extends Error {}

/** Reading behind the end of a box means that it is none of ours. */
function unlessShort<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ShortBox || error instanceof RangeError) return undefined
    throw error
  }
}

function assertWhole<T>(value: T | undefined): T {
  if (value === undefined) throw new ShortBox()
  return value
}

function children(bytes: Buffer, start = 0): Box[] {
  const found: Box[] = []
  for (let at = 0; at < bytes.length; ) {
    const { size, type } = assertWhole(readHeader(bytes, at))
    if (at + size > bytes.length) throw new ShortBox()
    found.push({ type, content: bytes.subarray(at + HEADER_BYTES, at + size), at: start + at + HEADER_BYTES })
    at += size
  }
  return found
}

const child = (bytes: Buffer, name: string) => children(bytes).find(({ type }) => type === name)?.content
const required = (bytes: Buffer, name: string) => assertWhole(child(bytes, name))
