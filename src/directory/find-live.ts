/**
 * Finds live channels by any part of their names, and by their titles and tags, the best first (D-162): for people, on the
 * site. A filter of bits (`pair-bits.ts`) leaves few rows that may contain the query, and these are looked at. Where it leaves
 * many, because the query is a letter or a common word, the rows with the most viewers are looked at. So the cost is
 * bounded: 1 to 3 ms of CPU time for 100,000 live channels.
 */
import { placeInChannel, type SiteSearch } from '../domain/search/site-search.ts'
import { markBeginning } from './channel-search.ts'
import type { LiveRows } from './live-rows.ts'
import { bitsOfAll } from './pair-bits.ts'
import type { LiveRow } from './row.ts'

/**
 * Rows that are searched for the words of the query: those with the most viewers, and more of them only if that was not
 * enough. The filter leaves no more than these of a rare word among 100,000.
 */
const SEARCHED = [1000, 20_000]
/** Rows for which the place of the query is determined: of those that begin with it, and of the others. */
const MAX_COMPARED = 150
/** Viewer counts above this count as equal when the largest are selected. */
const MAX_VIEWERS = 2 ** 16 - 1

export interface FoundLive {
  readonly row: LiveRow
  /** One of `FOUND_IN`. */
  readonly place: number
}

/** The best live channels: by where they have the query, by viewers, and by login. */
export function findLive(rows: LiveRows, search: SiteSearch, most: number): FoundLive[] {
  const found: FoundLive[] = []
  for (const index of new Set([...rowsNamed(rows, search, most), ...rowsContaining(rows, search)])) {
    const row = rows.at(index)
    if (row === undefined) continue
    const { login, name } = row
    const place = placeInChannel(search, { login, name, searched: rows.searchedAt(index) })
    if (place !== undefined) found.push({ row, place })
  }
  const viewerCount = ({ index }: LiveRow) => rows.counts[index] as number
  return found
    .sort(
      (a, b) =>
        a.place - b.place || viewerCount(b.row) - viewerCount(a.row) || (a.row.login < b.row.login ? -1 : 1),
    )
    .slice(0, most)
}

/** The indexes of rows whose login or display name is the query itself. */
function rowsNamed({ logins, otherNames }: LiveRows, { names }: SiteSearch, most: number): number[] {
  return [logins, otherNames].flatMap(texts =>
    names.spellings.flatMap(spelling => texts.equalTo(spelling, most)),
  )
}

/** The indexes of rows that begin with the query, and of others that contain it. */
function rowsContaining(rows: LiveRows, { names, words }: SiteSearch): number[] {
  const { counts } = rows
  const candidates = rows.pairBits.having(bitsOfAll(words), rows.indexes)
  const marks = markBeginning(rows, names)
  const beginning = marked(candidates, marks)
  for (const most of SEARCHED) {
    const containing = mostViewed(candidates, counts, most).filter(
      index => marks[index] === 0 && containsAll(rows.searchedAt(index), words),
    )
    if (containing.length >= MAX_COMPARED || candidates.length <= most || most === SEARCHED.at(-1))
      return [...mostViewed(beginning, counts, MAX_COMPARED), ...mostViewed(containing, counts, MAX_COMPARED)]
  }
  return []
}

function containsAll(text: string, words: readonly string[]): boolean {
  for (const word of words) if (!text.includes(word)) return false
  return true
}

/** A loop, because `filter` of 100,000 numbers takes several times as long. */
function marked(indexes: Int32Array, marks: Uint8Array): Int32Array {
  const found = new Int32Array(indexes.length)
  let size = 0
  for (let at = 0; at < indexes.length; at++) {
    const index = indexes[at] as number
    if (marks[index] === 1) found[size++] = index
  }
  return found.subarray(0, size)
}

/** The row indexes with the most viewers, at most so many. */
function mostViewed(indexes: Int32Array, counts: Int32Array, most: number): Int32Array {
  if (indexes.length <= most) return indexes
  const rowsWith = new Int32Array(MAX_VIEWERS + 1)
  for (let at = 0; at < indexes.length; at++) {
    const viewers = Math.min(counts[indexes[at] as number] as number, MAX_VIEWERS)
    rowsWith[viewers] = (rowsWith[viewers] as number) + 1
  }
  let [least, above] = [MAX_VIEWERS, 0]
  while (above + (rowsWith[least] as number) < most) above += rowsWith[least--] as number
  let withLeast = most - above
  const selected = new Int32Array(most)
  let size = 0
  for (let at = 0; size < most; at++) {
    const index = indexes[at] as number
    const viewers = Math.min(counts[index] as number, MAX_VIEWERS)
    if (viewers > least || (viewers === least && withLeast-- > 0)) selected[size++] = index
  }
  return selected
}
