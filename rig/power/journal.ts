/**
 * What a client was told, and what of it must be found after a power loss. Everything that is written belongs to a register
 * with one writer: the status of a group of entitlements, whether a channel is live, whether a marker is there. A position
 * is the size of the recorder's log: what was acknowledged at a position is on disk at every later one, or it is lost.
 */
export interface RegisterWrite {
  readonly value: string
  readonly sent: number
  /** Absent while it is under way. */
  acknowledged?: number
  /** Between which times of the wall clock, in milliseconds, the server took it. */
  readonly from: number
  to: number
}

/** A register as an image of the disk shows it. */
export interface Found {
  readonly value: string
  /** The time that the server gave the write, in milliseconds, where the rows have one. */
  readonly at?: number
}

type Verdict = 'held' | 'lost' | 'half applied'

/** Rows of one batch that do not agree. */
export const HALF = 'half'
/** A register that nothing was written to, or whose row was deleted. */
export const ABSENT = 'absent'

/** The clock of a row has milliseconds, and two writes within one of them are told apart by moving the later one. */
const CLOCK_SLACK_MILLISECONDS = 2

export class Journal {
  readonly #registers = new Map<string, RegisterWrite[]>()
  readonly #position: () => number

  constructor(position: () => number) {
    this.#position = position
  }

  get registers(): ReadonlyMap<string, readonly RegisterWrite[]> {
    return this.#registers
  }

  /** Writes acknowledged so far. */
  get acknowledged(): number {
    return [...this.#registers.values()].flat().filter(each => each.acknowledged !== undefined).length
  }

  lastOf(key: string): string {
    return this.#registers.get(key)?.at(-1)?.value ?? ABSENT
  }

  /** Notes a write before it is sent, and its answer. Whoever sends throws if it was not a success. */
  async write<T>(key: string, value: string, send: () => Promise<T>): Promise<T> {
    const write: RegisterWrite = { value, sent: this.#position(), from: Date.now(), to: Infinity }
    this.#add(key, write)
    const answer = await send()
    this.#acknowledge(write)
    return answer
  }

  /** The same where the key is known from the answer only. */
  async create<T>(value: string, keyOf: (answer: T) => string, send: () => Promise<T>): Promise<T> {
    const write: RegisterWrite = { value, sent: this.#position(), from: Date.now(), to: Infinity }
    const answer = await send()
    this.#acknowledge(write)
    this.#add(keyOf(answer), write)
    return answer
  }

  #add(key: string, write: RegisterWrite): void {
    this.#registers.set(key, [...(this.#registers.get(key) ?? []), write])
  }

  #acknowledge(write: RegisterWrite): void {
    write.acknowledged = this.#position()
    write.to = Date.now() + CLOCK_SLACK_MILLISECONDS
  }
}

/** What must be there at a position: the last write that was acknowledged, or the one that was under way. */
export function judgeRegister(writes: readonly RegisterWrite[], found: Found, position: number): Verdict {
  if (found.value === HALF) return 'half applied'
  const last = writes.findLastIndex(each => (each.acknowledged ?? Infinity) <= position)
  const next = writes[last + 1]
  const known = writes[last]
  if (known === undefined ? found.value === ABSENT : isOf(known, found)) return 'held'
  return next !== undefined && next.sent <= position && isOf(next, found) ? 'held' : 'lost'
}

function isOf(write: RegisterWrite, found: Found): boolean {
  const inTime = found.at === undefined || (found.at >= write.from && found.at <= write.to)
  return write.value === found.value && inTime
}

export interface Judged {
  readonly lost: readonly string[]
  readonly halfApplied: readonly string[]
}

/** Holds everything that was found against the journal. */
export function judgeImage(
  registers: ReadonlyMap<string, readonly RegisterWrite[]>,
  find: (key: string) => Found,
  position: number,
): Judged {
  const verdicts = [...registers].map(
    ([key, writes]) => [key, judgeRegister(writes, find(key), position)] as const,
  )
  const of = (verdict: Verdict) => verdicts.filter(each => each[1] === verdict).map(([key]) => key)
  return { lost: of('lost'), halfApplied: of('half applied') }
}
