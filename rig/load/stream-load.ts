import { type Caller, outcomeOf } from './caller.ts'

type Known = 'live' | 'off' | 'unknown'

/** Channels that go live and stop, each in the hands of one process, and how they must stand. */
export class StreamJournal {
  readonly #known = new Map<string, Known>()
  readonly #token: string

  constructor(operatorToken: string) {
    this.#token = operatorToken
  }

  /** Goes live if it is off, stops if it is live. Once an outcome is unknown, so is everything that follows. */
  async toggle(caller: Caller, id: string): Promise<void> {
    const before = this.#known.get(id)
    const wanted = before === 'live' || (before === 'unknown' && Math.random() < 0.5) ? 'off' : 'live'
    const path = `/control/channels/${id}/stream`
    const token = this.#token
    const answer =
      wanted === 'live'
        ? await caller.ask('stream', 'PUT', path, { token, body: { viewer_count: 5 } })
        : await caller.ask('stream', 'DELETE', path, { token })
    if (before === 'unknown' || outcomeOf(answer) === 'unknown') this.#known.set(id, 'unknown')
    else this.#known.set(id, wanted)
  }

  /** How many do not stand as was last acknowledged. */
  countWrong(live: ReadonlySet<string>): number {
    return [...this.#known].filter(
      ([id, known]) => known !== 'unknown' && (known === 'live') !== live.has(id),
    ).length
  }
}
