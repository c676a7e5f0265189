/**
 * The acknowledgement journal. Each write belongs to a register with a single writer: the status of a group of entitlements,
 * whether a channel is live, whether a marker exists. Positions are sizes of the recorder's log: a write that was
 * acknowledged at a position must be on disk after a power loss at any later one.
 */
export interface RegisterWrite {
  readonly value: string
  readonly sent: number
  /** Absent while the request is in flight. */
  acknowledged?: number
  /** Wall clock bounds of the time that the server stored, in milliseconds. */
  readonly from: number
  to: number
}

/** The state of a register in a disk image. */
export interface Found {
  readonly value: string
  /** `last_updated` in milliseconds, for entitlements. */
  readonly at?: number
}

type Verdict = 'held' | 'lost' | 'half applied'

/** The rows of one batch disagree. */
export const HALF = 'half'
/** Nothing was written yet, or the row was deleted. */
export const ABSENT = 'absent'

/** `last_updated` always increases, so a second write within a millisecond is stored slightly in the future. */
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

  /** Records a write before it is sent and when it is acknowledged. `send` throws unless the write succeeded. */
  async write<T>(key: string, value: string, send: () => Promise<T>): Promise<T> {
    const write: RegisterWrite = { value, sent: this.#position(), from: Date.now(), to: Infinity }
    this.#add(key, write)
    const answer = await send()
    this.#acknowledge(write)
    return answer
  }

  /** The same for a key that only the response contains. */
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

/** Expects the last write acknowledged before `position`, or the one in flight. */
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

/** Compares an image with the journal. */
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
