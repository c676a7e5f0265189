import type { Stream } from '../contract/resources/stream.ts'
import type { Rank } from '../domain/ranking.ts'

/**
 * A live stream in memory. The object stays the same when the stream changes, so that rankings can refer to it. Only what
 * is searched by is a field, the rest is text: a hundred thousand objects of fourteen fields keep the garbage collector busy.
 */
export interface LiveRow {
  readonly id: string
  readonly user_id: string
  /** Where its viewer count is in every array of counts. */
  readonly index: number
  /** Number of the feed entry that started it; 0 if it started before the journal begins. */
  since: number
  login: string
  /** The numbers of its game and its language. */
  game: number
  language: number
  live: boolean
  /** The stream as JSON with 0 viewers, and the position of that 0. */
  text: string
  gap: number
  /** The JSON that was rendered last, and with which viewer count. */
  shown: string
  shownCount: number
}

/** A row of a page: its rank, and the stream as JSON. */
export interface ShownStream extends Rank {
  readonly json: string
}

const COUNT = '"viewer_count":'

/** The JSON of a stream with a gap for its viewers. The order of fields is that of the contract. */
export function withGap(stream: Stream): Pick<LiveRow, 'text' | 'gap'> {
  const text = JSON.stringify({
    id: stream.id,
    user_id: stream.user_id,
    user_login: stream.user_login,
    user_name: stream.user_name,
    game_id: stream.game_id,
    game_name: stream.game_name,
    type: stream.type,
    title: stream.title,
    viewer_count: 0,
    started_at: stream.started_at,
    language: stream.language,
    thumbnail_url: stream.thumbnail_url,
    tag_ids: stream.tag_ids,
    tags: stream.tags,
    is_mature: stream.is_mature,
  })
  // Within a value the quotes would be escaped.
  return { text, gap: text.indexOf(`,${COUNT}0,`) + 1 + COUNT.length }
}

export function show(row: LiveRow, viewer_count: number): ShownStream {
  if (row.shownCount !== viewer_count) {
    row.shown = `${row.text.slice(0, row.gap)}${viewer_count}${row.text.slice(row.gap + 1)}`
    row.shownCount = viewer_count
  }
  return { id: row.id, viewer_count, json: row.shown }
}
