/**
 * Finds live channels by the beginning of their login, their display name or the name of their game (D-86), in the order of
 * logins. Every row is looked at: 100,000 take 4 ms of CPU time, and 10 ms if all fit, in steps of a millisecond with other
 * work between them. A sorted index would have to follow every stream that starts, for a request that is rare beside others.
 */
import type { Key, Page, Window } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import { type ChannelSearch, fits, isExact } from '../domain/channel-search.ts'
import type { LiveRows } from './live-rows.ts'
import type { LiveRow } from './row.ts'

/** Rows looked at before other work gets its turn. */
const STEP = 10_000

/** What a search returns of a live stream. Its viewers are of no interest. */
export type FoundStream = Omit<Stream, 'viewer_count'>

export async function searchLive(
  rows: LiveRows,
  search: ChannelSearch,
  { first, from }: Window,
): Promise<Page<FoundStream>> {
  const inGame = rows.gamesWhere(folded => fits(search, folded))
  const codeUnits = new Uint8Array(2 ** 16)
  for (const prefix of search.prefixes) codeUnits[prefix.charCodeAt(0)] = 1
  const best = new FirstRows(search, first + 1)
  for (let start = 0; start < rows.indexes; start += STEP) {
    if (start > 0) await Bun.sleep(0)
    offerFitting(rows, { start, search, inGame, codeUnits, from }, best)
  }
  return { rows: best.rows.slice(0, first).map(foundStream), more: best.rows.length > first }
}

/** One step. Not in the loop of an async function, which the runtime does not compile as well. */
function offerFitting(
  rows: LiveRows,
  step: {
    readonly start: number
    readonly search: ChannelSearch
    readonly inGame: Uint8Array
    readonly codeUnits: Uint8Array
    readonly from: Key | undefined
  },
  best: FirstRows,
): void {
  const { start, search, inGame, codeUnits, from: [rank = -1, login = ''] = [] } = step
  const end = Math.min(start + STEP, rows.indexes)
  for (let index = start; index < end; index++) {
    const row = rows.candidateAt(index, inGame, codeUnits)
    if (row === undefined) continue
    if (inGame[row.game] !== 1 && !fits(search, row.login) && !fits(search, row.name)) continue
    const ahead = rankOf(search, row) - Number(rank) || (row.login > String(login) ? 1 : -1)
    if (ahead > 0) best.offer(row)
  }
}

export const foundStream = (row: LiveRow): FoundStream => JSON.parse(row.text)

const rankOf = (search: ChannelSearch, { login }: LiveRow): number => (isExact(search, login) ? 0 : 1)

/** The first rows of those offered, in the order of the answer. */
class FirstRows {
  readonly rows: LiveRow[] = []
  readonly #search: ChannelSearch
  readonly #most: number

  constructor(search: ChannelSearch, most: number) {
    this.#search = search
    this.#most = most
  }

  offer(row: LiveRow): void {
    const last = this.rows.at(-1)
    if (this.rows.length === this.#most && last !== undefined && !this.#isBefore(row, last)) return
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(this.rows[middle] as LiveRow, row)) low = middle + 1
      else high = middle
    }
    this.rows.splice(low, 0, row)
    if (this.rows.length > this.#most) this.rows.pop()
  }

  #isBefore(a: LiveRow, b: LiveRow): boolean {
    return (rankOf(this.#search, a) - rankOf(this.#search, b) || (a.login < b.login ? -1 : 1)) < 0
  }
}
