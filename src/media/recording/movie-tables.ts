/**
 * The `moov` of a whole recording: where each of its samples is and when it is shown. Fragments go in one after another, and
 * boxes come out as a list of pieces, so that no step takes long however many samples there are.
 *
 * - A track has one timescale. Samples with another one are converted.
 * - Times are absolute: a sample lasts until the next one, so that a gap is a sample that lasts long. What comes before the first
 *   sample of a track is an empty edit.
 * - A run of samples in a fragment is a chunk. Each init segment may describe a track differently: the chunk names which.
 */
import { VIDEO_TIMESCALE } from '../hls/fmp4.ts'
import {
  ENABLED_AND_IN_MOVIE,
  fullBox,
  MATRIX,
  text,
  UNKNOWN_LANGUAGE,
  uint16,
  uint32,
  zeros,
} from '../mp4-box.ts'
import type { FragmentRun, InitTrack } from './mp4-reader.ts'

type Pieces = readonly Uint8Array[]

const PIECE_BYTES = 64 * 1024

/** Numbers of 32 bits, in pieces. */
class Numbers {
  readonly #pieces: Buffer[] = []
  #used = PIECE_BYTES
  count = 0

  push(value: number): void {
    if (this.#used === PIECE_BYTES) {
      this.#pieces.push(Buffer.allocUnsafeSlow(PIECE_BYTES))
      this.#used = 0
    }
    this.#used = this.#pieces.at(-1)?.writeUInt32BE(value >>> 0, this.#used) ?? 0
    this.count += 1
  }

  get pieces(): Pieces {
    return this.#pieces.map((piece, index) =>
      index === this.#pieces.length - 1 ? piece.subarray(0, this.#used) : piece,
    )
  }
}

/** Values with how often each is repeated. */
class Repeated {
  readonly #numbers = new Numbers()
  #value = 0
  #times = 0

  push(value: number): void {
    if (value !== this.#value) this.#end()
    this.#value = value
    this.#times += 1
  }

  /** The table: the number of entries, and the entries. */
  table(): Pieces {
    this.#end()
    return [uint32(this.#numbers.count / 2), ...this.#numbers.pieces]
  }

  #end(): void {
    if (this.#times === 0) return
    this.#numbers.push(this.#times)
    this.#numbers.push(this.#value)
    this.#times = 0
  }
}

class TrackTables {
  readonly #track: InitTrack
  readonly #entries: Uint8Array[] = []
  readonly #sizes = new Numbers()
  readonly #durations = new Repeated()
  readonly #offsets = new Repeated()
  readonly #keys = new Numbers()
  /** The chunk from which a number of samples and a description hold. */
  readonly #chunkRuns = new Numbers()
  #chunkRun = ''
  readonly #chunks = new Numbers()
  #first: number | undefined
  #last = 0
  #end = 0
  #hasOffsets = false
  /** When the first picture is shown, since the first decode time. */
  #shownAt = Number.POSITIVE_INFINITY

  constructor(track: InitTrack) {
    this.#track = track
  }

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** In ticks. */
  get endsAt(): number {
    return this.#toTicks(this.#end)
  }

  add({ entry, scale }: InitTrack, { baseDecodeTime, samples }: FragmentRun, position: number): void {
    if (samples.length === 0) return
    const convert = (time: number) => Math.round((time * this.#track.scale) / scale)
    let time = baseDecodeTime
    for (const { size, duration, compositionOffset, isKey } of samples) {
      // Never less than before, whatever the file has.
      const at = Math.max(convert(time), this.#last)
      if (this.#first === undefined) this.#first = at
      else this.#durations.push(at - this.#last)
      this.#last = at
      time += duration
      this.#end = Math.max(convert(time), at)
      this.#sizes.push(size)
      const offset = convert(compositionOffset)
      this.#offsets.push(offset)
      this.#shownAt = Math.min(this.#shownAt, at - this.#first + offset)
      if (compositionOffset !== 0) this.#hasOffsets = true
      if (isKey) this.#keys.push(this.#sizes.count)
    }
    this.#chunks.push(Math.floor(position / 2 ** 32))
    this.#chunks.push(position % 2 ** 32)
    const description = this.#describe(entry)
    const chunkRun = `${samples.length} ${description}`
    if (chunkRun !== this.#chunkRun)
      for (const each of [this.#chunks.count / 2, samples.length, description]) this.#chunkRuns.push(each)
    this.#chunkRun = chunkRun
  }

  /** @param id of the track in the movie */
  box(id: number): Pieces {
    const { kind, width, height, scale } = this.#track
    const isVideo = kind === 'video'
    const first = this.#first ?? 0
    const samples = this.#sizes.count
    this.#durations.push(this.#end - this.#last)
    const length = this.#end - first
    // Some readers take the first picture for the start of an edit.
    const shownAt = Math.max(0, this.#shownAt)
    const [lead, ticks] = [this.#toTicks(first + shownAt), this.#toTicks(length)]
    const edits = lead === 0 ? [edit(ticks, 0)] : [edit(lead, -1), edit(ticks, shownAt)]
    return box('trak', [
      fullBox(
        'tkhd',
        1,
        ENABLED_AND_IN_MOVIE,
        zeros(16),
        uint32(id, 0),
        uint64(lead + ticks),
        zeros(8),
        uint16(0, 0, isVideo ? 0 : 0x100, 0),
        MATRIX,
        uint32(width * 0x10000, height * 0x10000),
      ),
      ...box('edts', [fullBox('elst', 1, 0, uint32(edits.length), ...edits)]),
      ...box('mdia', [
        fullBox('mdhd', 1, 0, zeros(16), uint32(scale), uint64(length), uint16(UNKNOWN_LANGUAGE, 0)),
        fullBox('hdlr', 0, 0, zeros(4), text(isVideo ? 'vide' : 'soun'), zeros(13)),
        ...box('minf', [
          isVideo ? fullBox('vmhd', 0, 1, zeros(8)) : fullBox('smhd', 0, 0, zeros(4)),
          ...box('dinf', [fullBox('dref', 0, 0, uint32(1), fullBox('url ', 0, 1))]),
          ...box('stbl', [
            fullBox('stsd', 0, 0, uint32(this.#entries.length), ...this.#entries),
            ...table('stts', 0, this.#durations.table()),
            ...(this.#hasOffsets ? table('ctts', 1, this.#offsets.table()) : []),
            // Without this table every sample is a key frame.
            ...(this.#keys.count < samples
              ? table('stss', 0, [uint32(this.#keys.count), ...this.#keys.pieces])
              : []),
            ...table('stsc', 0, [uint32(this.#chunkRuns.count / 3), ...this.#chunkRuns.pieces]),
            ...table('stsz', 0, [uint32(0, samples), ...this.#sizes.pieces]),
            ...table('co64', 0, [uint32(this.#chunks.count / 2), ...this.#chunks.pieces]),
          ]),
        ]),
      ]),
    ])
  }

  /** The number of a description, from 1. */
  #describe(entry: Uint8Array): number {
    const known = this.#entries.findIndex(each => Buffer.compare(each, entry) === 0)
    return known >= 0 ? known + 1 : this.#entries.push(entry)
  }

  #toTicks(time: number): number {
    return Math.round((time * VIDEO_TIMESCALE) / this.#track.scale)
  }
}

export class MovieTables {
  readonly #tracks = new Map<InitTrack['kind'], TrackTables>()

  /** @param at where the fragment begins in the file */
  add(tracks: readonly InitTrack[], runs: readonly FragmentRun[], at: number): void {
    for (const run of runs) {
      const track = tracks.find(({ id }) => id === run.trackId)
      if (track === undefined) continue
      const tables = this.#tracks.get(track.kind) ?? new TrackTables(track)
      this.#tracks.set(track.kind, tables)
      tables.add(track, run, at + run.dataAt)
    }
  }

  /** The `moov`. Called once. */
  box(): Pieces {
    const tracks = (['video', 'audio'] as const)
      .map(kind => this.#tracks.get(kind))
      .filter(track => track !== undefined && !track.isEmpty)
    const duration = Math.max(0, ...tracks.map(track => track?.endsAt ?? 0))
    return box('moov', [
      fullBox(
        'mvhd',
        1,
        0,
        zeros(16),
        uint32(VIDEO_TIMESCALE),
        uint64(duration),
        uint32(0x10000),
        uint16(0x100),
        zeros(10),
        MATRIX,
        zeros(24),
        uint32(tracks.length + 1),
      ),
      ...tracks.flatMap((track, index) => track?.box(index + 1) ?? []),
    ])
  }
}

function box(type: string, content: Pieces): Pieces {
  const size = content.reduce((sum, { length }) => sum + length, 8)
  return [Buffer.concat([uint32(size), text(type)]), ...content]
}

const table = (type: string, version: number, content: Pieces): Pieces =>
  box(type, [uint32(version * 0x1000000), ...content])

const uint64 = (value: number) => uint32(Math.floor(value / 2 ** 32), value % 2 ** 32)

/** Shows the track for so many ticks, from a time of it; -1: shows nothing. */
const edit = (ticks: number, from: number) =>
  Buffer.concat([uint64(ticks), from < 0 ? uint32(0xffffffff, 0xffffffff) : uint64(from), uint16(1, 0)])
