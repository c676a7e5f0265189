import type { Key, Page, PageRequest } from '../contract/page.ts'
import { compareRank, type Rank } from '../domain/ranking.ts'
import type { FeedPoint } from '../store/feed.ts'
import { findSlices, type SliceFilter, walkAlong } from './ranking.ts'
import { type LiveRow, type RenderedStream, renderRow } from './row.ts'
import type { Snapshot } from './snapshot-cache.ts'
import type { RankedSnapshot } from './snapshots.ts'

/** A page, and the point of its walk for the cursor. */
export type WalkPage<Row> = Page<Row> & { readonly cursorState: Key }
export type StreamPage = WalkPage<RenderedStream>

/** The sort key of streams and games in the directory. */
export const rankKey = (row: Rank): Key => [row.viewer_count, row.id]

/** The point that a walk started at, from its cursor. */
export function pointIn({ cursorState }: PageRequest): FeedPoint | undefined {
  return cursorState && { seq: Number(cursorState[0]), nonce: String(cursorState[1]) }
}

/** Matches the current state of a row: a slice reflects the state when it was created. */
export function matches({ games, languages }: SliceFilter, row: LiveRow): boolean {
  return (
    (games === undefined || games.includes(row.game)) &&
    (languages === undefined || languages.includes(row.language))
  )
}

/** A page of all matching rows, along a ranking. */
export function pageOfRanking(
  { point, ranking }: RankedSnapshot,
  filter: SliceFilter,
  window: PageRequest,
): StreamPage {
  const forward = window.direction === 'forward'
  const next = walkAlong(ranking, findSlices(ranking, filter), window.from && toRank(window.from), forward)
  const rows: RenderedStream[] = []
  for (let place = next(); place >= 0; place = next()) {
    const row = ranking.rows[place]
    if (!row?.live || !matches(filter, row)) continue
    rows.push(renderRow(row, ranking.counts[row.index] as number))
    if (rows.length > window.first) break
  }
  return cutPage(rows, window, point)
}

/** A page of a few rows, sorted on demand. */
export function pageOfRows(
  rows: Iterable<LiveRow>,
  { point, counts }: Pick<Snapshot, 'point' | 'counts'>,
  window: PageRequest,
): StreamPage {
  const from = window.from && toRank(window.from)
  const forward = window.direction === 'forward'
  const found: (Rank & { readonly row: LiveRow })[] = []
  for (const row of rows) {
    if (row.since > point.seq) continue
    const each = { row, viewer_count: counts[row.index] as number, id: row.id }
    if (from === undefined || (forward ? compareRank(each, from) > 0 : compareRank(each, from) < 0))
      found.push(each)
  }
  if (found.length > 1) found.sort(forward ? compareRank : (a, b) => compareRank(b, a))
  const rendered: RenderedStream[] = []
  for (const { row, viewer_count } of found) {
    rendered.push(renderRow(row, viewer_count))
    if (rendered.length > window.first) break
  }
  return cutPage(rendered, window, point)
}

/** Takes rows in walk order, with one extra row if there are more than the page holds, and returns them in list order. */
export function cutPage<Row>(
  rows: Row[],
  { first, direction }: PageRequest,
  point: FeedPoint,
): WalkPage<Row> {
  const more = rows.length > first
  if (more) rows.pop()
  if (direction === 'backward') rows.reverse()
  return { rows, more, cursorState: [point.seq, point.nonce] }
}

export function toRank([viewer_count, id]: Key): Rank {
  return { viewer_count: Number(viewer_count), id: String(id) }
}
