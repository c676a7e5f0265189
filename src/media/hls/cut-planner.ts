/**
 * Decides where parts and segments of a stretch end, from the positions of the samples of its leading track alone.
 *
 * A segment ends (D-255)
 * - before a key frame, if the group of pictures that follows would make it longer than the target duration;
 * - without one when it has reached the target duration, unless groups of pictures are known to be about that long.
 *
 * A part ends at the last sample with which it is not longer than its target, and before a key frame. If pictures come so
 * rarely that it would be too short, it ends in the middle of one, and has only sound.
 */

/** Positions are counted in ticks: so many in a second. */
export const SECOND = 90_000
const [MIN_TARGET, MAX_TARGET] = [2 * SECOND, 4 * SECOND]
/** Durations of segments are compared with the target after rounding (RFC 8216, 4.3.3.1). */
const ROUNDING = 0.49 * SECOND
const PART_TARGET = 0.5 * SECOND
const MIN_PART = 0.85
/** Part targets are a multiple of this. */
const PART_STEP = 0.01 * SECOND

/** What is decided once for a broadcast, and what its stretches continue. */
export interface Cadence {
  /** Seconds. Undefined before the end of the first group of pictures. */
  targetSeconds: number | undefined
  /** Seconds. Undefined before the end of the first part. */
  partSeconds: number | undefined
  fragments: number
}

export interface Cut {
  readonly at: number
  readonly endsSegment: boolean
}

export class CutPlanner {
  readonly #cadence: Cadence
  readonly #hasVideo: boolean
  readonly #hasBoth: boolean
  readonly #beganAt: number
  #leadAt: number
  #segmentAt: number
  #partAt: number
  #groupAt: number
  #lastGroup = Number.POSITIVE_INFINITY
  #cuts: Cut[] = []

  constructor(cadence: Cadence, kinds: { hasVideo: boolean; hasBoth: boolean }, beganAt: number) {
    this.#cadence = cadence
    this.#hasVideo = kinds.hasVideo
    this.#hasBoth = kinds.hasBoth
    this.#beganAt = beganAt
    this.#leadAt = beganAt
    this.#segmentAt = beganAt
    this.#partAt = beganAt
    this.#groupAt = beganAt
  }

  /** Where the leading track is. */
  get leadAt(): number {
    return this.#leadAt
  }

  /** The cut that comes next. */
  get next(): Cut | undefined {
    return this.#cuts[0]
  }

  /** The next cut was made. */
  shift(): void {
    this.#cuts.shift()
  }

  /** Decides what ends where this sample of the leading track begins. `isFull`: the part must not get more samples. */
  lead(at: number, isKey: boolean, isFull: boolean): void {
    const previous = this.#leadAt
    if (at <= previous) return
    this.#cutLongPart(at)
    if (isKey) {
      this.#lastGroup = at - this.#groupAt
      this.#groupAt = at
      this.#cadence.targetSeconds ??= toTargetSeconds(this.#lastGroup)
    }
    const startsGroup = isKey && this.#lastGroup >= this.#partTarget
    if (this.#isSegmentEnd(at, at - previous, isKey)) this.#plan(at, true)
    else if (at > this.#partAt && (startsGroup || isFull)) this.#plan(at, false)
    this.#leadAt = at
  }

  /** The stretch ends here. Returns the last cuts. */
  finish(end: number): readonly Cut[] {
    this.#cadence.targetSeconds ??= toTargetSeconds(end - this.#beganAt)
    this.#cutLongPart(end)
    return [...this.#cuts, { at: end, endsSegment: true }]
  }

  #isSegmentEnd(at: number, frame: number, isKey: boolean): boolean {
    const length = at - this.#segmentAt
    const { targetSeconds } = this.#cadence
    if (targetSeconds === undefined) {
      const limit = this.#hasVideo ? MAX_TARGET : MIN_TARGET
      if (length + frame / 2 <= limit) return false
      this.#cadence.targetSeconds = limit / SECOND
      return true
    }
    const target = targetSeconds * SECOND
    if (isKey) return length + this.#lastGroup > target + ROUNDING
    const isRegular = Math.max(this.#lastGroup, at - this.#groupAt) <= target + ROUNDING
    if (this.#hasVideo && isRegular) return length + frame > target + ROUNDING
    // Where it is nearest to the target.
    return length + frame / 2 > target
  }

  get #partTarget(): number {
    return (this.#cadence.partSeconds ?? PART_TARGET / SECOND) * SECOND
  }

  /** Cuts parts so that the sample that begins here does not make one too long. */
  #cutLongPart(at: number): void {
    const lastAt = this.#leadAt
    if (at - this.#partAt > this.#partTarget) this.#cadence.partSeconds ??= this.#choosePartTarget(at, lastAt)
    while (at - this.#partAt > this.#partTarget) {
      const filled = lastAt - this.#partAt
      const isLongEnough = filled >= MIN_PART * this.#partTarget
      if (isLongEnough || (!this.#hasBoth && filled > 0)) this.#plan(lastAt, false)
      else this.#plan(this.#hasBoth ? this.#partAt + this.#partTarget : at, false)
    }
  }

  /** Half a second, unless so few pictures come that parts of whole pictures would be shorter. */
  #choosePartTarget(at: number, lastAt: number): number {
    if (lastAt - this.#partAt >= MIN_PART * PART_TARGET) return PART_TARGET / SECOND
    return (Math.ceil((at - this.#partAt) / PART_STEP) * PART_STEP) / SECOND
  }

  #plan(at: number, endsSegment: boolean): void {
    // The playlist with this part shows its target, which then stays.
    this.#cadence.partSeconds ??= PART_TARGET / SECOND
    this.#cuts.push({ at, endsSegment })
    this.#partAt = at
    if (endsSegment) this.#segmentAt = at
  }
}

/** The target duration for a first group of pictures. */
function toTargetSeconds(group: number): number {
  return Math.round(Math.min(Math.max(group, MIN_TARGET), MAX_TARGET) / SECOND)
}
