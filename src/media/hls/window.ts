/**
 * The segments of a broadcast that are in memory, the oldest first:
 *
 *     left the playlist, kept for players that are behind | listed in the playlist | the one that is being filled
 *
 * Six segments are listed, and at least twelve seconds (D-255). One that leaves the playlist is kept for its duration and that
 * of the longest playlist (RFC 8216, 6.2.2). In bytes a window is bounded: beyond that, segments go before their time, first
 * those that have left the playlist, then the oldest that are listed, but never so many that less than three target durations
 * are listed (D-257).
 */
import type { MediaMemory } from '../media-memory.ts'
import { type ListedSegment, mediaPlaylist, partName } from './playlist.ts'
import type { CutPart } from './segmenter.ts'

const MIN_SEGMENTS = 6
const MIN_SECONDS = 12
/** However short they are. */
const MAX_SEGMENTS = 64
const TARGETS = 3
/** Parts are listed of so many complete segments: players near the end of the playlist use no others. */
const SEGMENTS_WITH_PARTS = 3
const MAX_BYTES = 24 * 1024 * 1024
/** What a part takes beside its bytes. */
const PART_BYTES = 1000

interface Part {
  /** Its bytes until it is asked for, and from then on. */
  pieces: readonly Uint8Array[]
  blob: Blob | undefined
  readonly bytes: number
  readonly seconds: number
  readonly isIndependent: boolean
}

interface Segment {
  readonly sequence: number
  readonly init: number
  readonly isDiscontinuous: boolean
  /** The number of discontinuities up to its start. */
  readonly discontinuities: number
  /** Milliseconds since 1970. */
  readonly startsAt: number
  readonly parts: Part[]
  seconds: number
  bytes: number
  isComplete: boolean
  /** All of it, from the first request on: players that are close to live ask for parts alone. */
  blob: Blob | undefined
  /** When it left the playlist, on the clock of `trim`. */
  leftAt: number | undefined
}

/** What a reader asks to be in the playlist. Without a part: the whole segment. */
export interface PlaylistRequest {
  readonly sequence: number
  readonly part?: number | undefined
}

export class SegmentWindow {
  readonly #memory: MediaMemory
  readonly #maxBytes: number
  #segments: Segment[] = []
  readonly #inits = new Map<number, Blob>()
  #lastInit = -1
  #sequence = 0
  #discontinuities = 0
  #isBroken = false
  #bytes = 0
  #longestSeconds = 0

  constructor(memory: MediaMemory, maxBytes = MAX_BYTES) {
    this.#memory = memory
    this.#maxBytes = maxBytes
  }

  /** The last complete segment that is listed. */
  get last(): { readonly sequence: number } | undefined {
    return this.#segments.findLast(({ isComplete }) => isComplete)
  }

  /** The highest bit rate of a segment. */
  get bitsPerSecond(): number {
    return Math.max(
      0,
      ...this.#segments.map(({ bytes, seconds, isComplete }) => (isComplete ? (bytes * 8) / seconds : 0)),
    )
  }

  addInit(bytes: Uint8Array): void {
    this.#lastInit += 1
    this.#inits.set(this.#lastInit, toBlob([bytes]))
  }

  /** The next segment does not continue the last one. */
  discontinue(): void {
    this.#isBroken = true
  }

  addPart({ pieces, seconds, isIndependent }: CutPart, startsAt: number): void {
    const segment = this.#open ?? this.#begin(startsAt)
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    segment.parts.push({ pieces, blob: undefined, bytes, seconds, isIndependent })
    segment.seconds += seconds
    segment.bytes += bytes
    this.#count(bytes + PART_BYTES)
  }

  endSegment(): void {
    const segment = this.#open
    if (segment !== undefined) segment.isComplete = true
  }

  /**
   * Removes what need not be kept. False: the window is too large even so.
   *
   * @param waitingBytes of the broadcast that are not in the window yet
   */
  trim(targetSeconds: number, waitingBytes: number, now: number): boolean {
    let listedSeconds = 0
    let listed = 0
    for (const segment of this.#segments.toReversed()) {
      if (!segment.isComplete || segment.leftAt !== undefined) continue
      const isEnough = listed >= MIN_SEGMENTS && listedSeconds >= MIN_SECONDS
      if (isEnough || listed >= MAX_SEGMENTS) segment.leftAt = now
      else {
        listed += 1
        listedSeconds += segment.seconds
      }
    }
    this.#longestSeconds = Math.max(this.#longestSeconds, listedSeconds)
    const isTooLarge = () => this.#bytes + waitingBytes > this.#maxBytes
    while (
      this.#hasExpired(now) ||
      ((isTooLarge() || this.#memory.isShort) && this.#mayRemove(targetSeconds))
    )
      this.#removeFirst()
    return !isTooLarge()
  }

  clear(): void {
    while (this.#segments.length > 0) this.#removeFirst()
  }

  init(index: number): Blob | undefined {
    return this.#inits.get(index)
  }

  /** Whether it has a segment, complete or not. */
  keeps(sequence: number): boolean {
    return this.#find(sequence) !== undefined
  }

  segment(sequence: number): Blob | undefined {
    const segment = this.#find(sequence)
    if (segment?.isComplete !== true) return undefined
    segment.blob ??= join(segment.parts)
    return segment.blob
  }

  part(sequence: number, index: number): Blob | undefined {
    const part = this.#find(sequence)?.parts[index]
    return part && shared(part)
  }

  /** The name of the part that comes next. */
  get nextPart(): string {
    const open = this.#open
    return open === undefined ? partName(this.#sequence, 0) : partName(open.sequence, open.parts.length)
  }

  /** Whether the playlist has this. A part behind the last one of a segment is the first of the next. */
  has({ sequence, part }: PlaylistRequest): boolean {
    const { last } = this
    if (last === undefined || sequence > last.sequence + 1) return false
    const open = this.#open?.parts.length ?? 0
    if (sequence > last.sequence) return part !== undefined && open > part
    const isBehindLast =
      sequence === last.sequence && (part ?? 0) >= (this.#find(sequence)?.parts.length ?? 0)
    return !isBehindLast || open > 0
  }

  playlist(targetSeconds: number, partSeconds: number, hasEnded: boolean): string {
    const segments = this.#segments.filter(({ leftAt }) => leftAt === undefined)
    const firstWithParts = segments.filter(({ isComplete }) => isComplete).length - SEGMENTS_WITH_PARTS
    const listed = segments.map(
      (segment, index): ListedSegment => ({
        ...segment,
        seconds: segment.isComplete ? segment.seconds : undefined,
        parts: index < firstWithParts ? [] : segment.parts,
      }),
    )
    const discontinuitySequence = segments[0]?.discontinuities ?? 0
    return mediaPlaylist({ targetSeconds, partSeconds, discontinuitySequence, segments: listed, hasEnded })
  }

  get #open(): Segment | undefined {
    const last = this.#segments.at(-1)
    return last?.isComplete === true ? undefined : last
  }

  #begin(startsAt: number): Segment {
    // The first segment continues nothing.
    const isDiscontinuous = this.#isBroken && this.#sequence > 0
    this.#isBroken = false
    if (isDiscontinuous) this.#discontinuities += 1
    const segment: Segment = {
      ...{ sequence: this.#sequence, init: this.#lastInit, isDiscontinuous, startsAt, parts: [] },
      ...{ discontinuities: this.#discontinuities, seconds: 0, bytes: 0, isComplete: false },
      ...{ blob: undefined, leftAt: undefined },
    }
    this.#sequence += 1
    this.#segments.push(segment)
    return segment
  }

  #find(sequence: number): Segment | undefined {
    return this.#segments[sequence - (this.#segments[0]?.sequence ?? 0)]
  }

  #hasExpired(now: number): boolean {
    const [first] = this.#segments
    if (first?.leftAt === undefined) return false
    return now > first.leftAt + (first.seconds + this.#longestSeconds) * 1000
  }

  /** Whether the oldest segment may go before its time. */
  #mayRemove(targetSeconds: number): boolean {
    const [first, ...rest] = this.#segments
    if (first?.leftAt !== undefined) return true
    const seconds = rest.reduce((sum, segment) => sum + (segment.isComplete ? segment.seconds : 0), 0)
    return seconds >= TARGETS * targetSeconds && rest.length > 0
  }

  #removeFirst(): void {
    const first = this.#segments.shift()
    if (first === undefined) return
    this.#count(-first.bytes - first.parts.length * PART_BYTES)
    const init = this.#segments[0]?.init ?? this.#lastInit
    for (const index of this.#inits.keys()) if (index < init) this.#inits.delete(index)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#memory.add(bytes)
  }
}

/**
 * The bytes of a part as all answers send them: responses do that without a copy of a blob. It is made with the first request,
 * because its memory is returned late: the runtime does not count it when it decides when to collect.
 */
function shared(part: Part): Blob {
  part.blob ??= toBlob(part.pieces)
  part.pieces = []
  return part.blob
}

/** One blob of all parts, which are slices of it from now on. */
function join(parts: readonly Part[]): Blob {
  const joined = toBlob(parts.flatMap<Uint8Array | Blob>(({ blob, pieces }) => blob ?? pieces))
  let at = 0
  for (const part of parts) {
    part.blob = joined.slice(at, at + part.bytes)
    part.pieces = []
    at += part.bytes
  }
  return joined
}

const toBlob = (pieces: readonly (Uint8Array | Blob)[]): Blob => new Blob(pieces as BlobPart[])
