/**
 * Finds live channels by the beginning of their login, their display name or the name of their game (D-86), in the order of
 * logins. Logins and names that begin with a text are ranges of sorted lists that follow every start and end. The rows of
 * these ranges are marked; then the list of logins is walked from the start of the page until the page is full. That
 * compares numbers only, so the worst case, in which no row or only the last ones fit, is short too: below 1 ms of CPU time
 * for 100,000 live channels.
 */
import type { Page, PageRequest } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import { type ChannelSearch, fits, isExact } from '../domain/search/channel-search.ts'
import { assertDefined } from '../kit/assert-defined.ts'
import type { LiveRows } from './live-rows.ts'
import type { LiveRow } from './row.ts'

/** What a search returns of a live stream. Its viewers are of no interest. */
export type FoundStream = Omit<Stream, 'viewer_count'>

export function searchLive(
  rows: LiveRows,
  search: ChannelSearch,
  { first, from: [rank = 0, login = ''] = [] }: PageRequest,
): Page<FoundStream> {
  const found = rank === 0 ? exactRows(rows, search, String(login)) : []
  const order = rows.logins.order
  const start = rank === 0 ? 0 : placeAfter(rows, String(login))
  const marks = markBeginning(rows, search)
  const inGame = rows.gamesWhere(normalized => fits(search, normalized))
  const games = rows.gamesByIndex
  for (let place = start; place < order.length && found.length <= first; place++) {
    const index = order[place] as number
    if (marks[index] !== 1 && inGame[games[index] as number] !== 1) continue
    const row = assertDefined(rows.at(index), 'a live row')
    if (!isExact(search, row.login)) found.push(row)
  }
  return { rows: found.slice(0, first).map(foundStream), more: found.length > first }
}

export const foundStream = (row: LiveRow): FoundStream => JSON.parse(row.text)

/** By row index, a 1 if the login or the display name begins as the search asks. */
export function markBeginning({ logins, otherNames, indexes }: LiveRows, search: ChannelSearch): Uint8Array {
  const marks = new Uint8Array(indexes)
  for (const texts of [logins, otherNames])
    for (const prefix of search.prefixes) {
      const { order } = texts
      const [start, end] = texts.prefixRange(prefix)
      for (let place = start; place < end; place++) marks[order[place] as number] = 1
    }
  return marks
}

/** Those whose login is the query itself and comes after a login. */
function exactRows(rows: LiveRows, { spellings }: ChannelSearch, after: string): LiveRow[] {
  return spellings
    .filter(spelling => spelling > after)
    .sort()
    .flatMap(spelling => rows.ofLogin(spelling) ?? [])
}

function placeAfter({ logins }: LiveRows, login: string): number {
  return logins.findPlace(login) + logins.equalTo(login, logins.order.length).length
}
