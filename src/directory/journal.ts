/**
 * The changes of viewer counts by each feed entry of the last minutes. Undoing one entry after the other restores the counts
 * at any point in that time. That takes less memory than the counts at every point, and all processes that follow the feed
 * arrive at the same counts.
 */
import { type FeedPoint, samePoint } from '../store/feed.ts'

/** How long a walk can continue along its first ranking: five minutes (D-33), plus the age of its first page. */
export const KEPT_MILLISECONDS = 6 * 60 * 1000
/** Maximum number of counts, in 160 MB: enough for 330,000 channels that change every five seconds. */
const MAX_COUNTS = 20_000_000

/** The changes of one entry: the indexes of the counts, and their former values. */
export interface Step {
  readonly indexes: Int32Array
  readonly was: Int32Array
}

const NONE = new Int32Array(0)
/** An entry that changed no counts. */
export const NO_STEP: Step = { indexes: NONE, was: NONE }

interface JournalStep extends Step {
  readonly nonce: string
  readonly notedAt: number
}

export class Journal {
  readonly #monotonic: () => number
  /** Where the journal begins: the point before its first step. */
  #base: FeedPoint = { seq: 0, nonce: '' }
  #steps: JournalStep[] = []
  /** Number of dropped steps at the front of the array. */
  #dropped = 0
  #counts = 0

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** Clears the journal; it now begins at this point. */
  reset(base: FeedPoint): void {
    this.#base = base
    this.#steps = []
    this.#dropped = 0
    this.#counts = 0
  }

  get oldest(): FeedPoint {
    return this.#base
  }

  get latest(): FeedPoint {
    const last = this.#steps.at(-1)
    return last === undefined ? this.#base : { seq: this.#lastSeq(), nonce: last.nonce }
  }

  /** The latest point noted at or before a time; the oldest point if all are younger. */
  latestAt(time: number): FeedPoint {
    for (let seq = this.#lastSeq(); seq > this.#base.seq; seq--) {
      const step = this.#stepTo(seq)
      if (step !== undefined && step.notedAt <= time) return { seq, nonce: step.nonce }
    }
    return this.#base
  }

  note(point: FeedPoint, step: Step): void {
    const now = this.#monotonic()
    this.#steps.push({ ...step, nonce: point.nonce, notedAt: now })
    this.#counts += step.indexes.length
    this.#dropOld(now)
  }

  /** Adds older steps. `points` go from the new beginning to the current one, both included; false if they end elsewhere. */
  recall(points: readonly FeedPoint[], steps: readonly Step[]): boolean {
    const [base, ...later] = points
    const last = points.at(-1)
    if (base === undefined || last === undefined || !samePoint(last, this.#base)) return false
    const notedAt = this.#monotonic()
    const recalled = later.map(({ nonce }, index) => ({ ...(steps[index] ?? NO_STEP), nonce, notedAt }))
    this.#steps = [...recalled, ...this.#steps.slice(this.#dropped)]
    this.#dropped = 0
    for (const { indexes } of recalled) this.#counts += indexes.length
    this.#base = { seq: base.seq, nonce: base.nonce }
    return true
  }

  knows(point: FeedPoint): boolean {
    if (point.seq === this.#base.seq) return point.nonce === this.#base.nonce
    return this.#stepTo(point.seq)?.nonce === point.nonce
  }

  /** Changes the current counts to those at an earlier point, which must be known. */
  undo(counts: Int32Array, seq: number): void {
    for (let each = this.#lastSeq(); each > seq; each--) {
      const step = this.#stepTo(each)
      if (step === undefined) return
      for (let index = 0; index < step.indexes.length; index++) {
        counts[step.indexes[index] as number] = step.was[index] as number
      }
    }
  }

  #lastSeq(): number {
    return this.#base.seq + this.#steps.length - this.#dropped
  }

  /** The step of the entry with this number. */
  #stepTo(seq: number): JournalStep | undefined {
    const place = seq - this.#base.seq - 1
    return place < 0 ? undefined : this.#steps[this.#dropped + place]
  }

  #dropOld(now: number): void {
    for (;;) {
      const oldest = this.#steps[this.#dropped]
      if (oldest === undefined || this.#steps.length - this.#dropped === 1) break
      if (now - oldest.notedAt <= KEPT_MILLISECONDS && this.#counts <= MAX_COUNTS) break
      this.#base = { seq: this.#base.seq + 1, nonce: oldest.nonce }
      this.#counts -= oldest.indexes.length
      this.#steps[this.#dropped] = { ...NO_STEP, nonce: '', notedAt: 0 }
      this.#dropped += 1
    }
    if (this.#dropped > 1000 && this.#dropped > this.#steps.length / 2) {
      this.#steps = this.#steps.slice(this.#dropped)
      this.#dropped = 0
    }
  }
}
