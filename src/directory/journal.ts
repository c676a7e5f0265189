/**
 * The changes of viewer counts and games by each feed entry of the last minutes. Undoing one entry after the other restores
 * both at any point in that time, also those of streams that have ended since. That takes less memory than the state at
 * every point, and all processes that follow the feed arrive at the same state.
 */
import { type FeedPoint, samePoint } from '../store/feed.ts'

/** How long a walk can continue along its first ranking: five minutes (D-33), plus the age of its first page. */
export const KEPT_MILLISECONDS = 6 * 60 * 1000
/** Maximum number of counts, in 160 MB: enough for 330,000 channels that change every five seconds. */
const MAX_COUNTS = 20_000_000

/** The game at an index that no live stream has. */
export const NO_STREAM = -1

/** The changes of one entry: the indexes of the counts, and their former values. */
export interface Step {
  readonly indexes: ArrayLike<number>
  readonly was: ArrayLike<number>
  /** For an entry about one stream: the former number of its game; `NO_STREAM` if it has just started. */
  readonly wasGame?: number
  /** The id of the stream, if it has ended. */
  readonly ended?: string
}

/** An entry that changed nothing. */
export const NO_STEP: Step = { indexes: [], was: [] }

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
    for (const { indexes, was } of this.#stepsBackTo(seq)) {
      for (let each = 0; each < indexes.length; each++) counts[indexes[each] as number] = was[each] as number
    }
  }

  /** Changes the current games to those at an earlier point, or at the oldest if that is later. */
  undoGames(games: Int32Array, seq: number): void {
    for (const { indexes, wasGame } of this.#stepsBackTo(seq)) {
      if (wasGame !== undefined) games[indexes[0] as number] = wasGame
    }
  }

  /** The streams that have ended since the oldest point, with their indexes. */
  endedStreams(): Map<string, number> {
    const ended = new Map<string, number>()
    for (const step of this.#stepsBackTo(this.#base.seq))
      if (step.ended !== undefined) ended.set(step.ended, step.indexes[0] as number)
    return ended
  }

  /** The steps after a point, latest first. */
  *#stepsBackTo(seq: number): Generator<JournalStep> {
    for (let each = this.#lastSeq(); each > seq; each--) {
      const step = this.#stepTo(each)
      if (step === undefined) return
      yield step
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
