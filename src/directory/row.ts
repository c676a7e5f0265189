import type { Stream } from '../contract/resources/stream.ts'
import type { Rank } from '../domain/ranking.ts'
import type { LiveStream } from '../store/feed.ts'

/**
 * A live stream in memory. The object stays the same when the stream changes, so that rankings can refer to it. Only search
 * criteria are fields, the rest is text: a hundred thousand objects with fourteen fields would burden the garbage collector.
 */
export interface LiveRow {
  readonly id: string
  readonly user_id: string
  /** The index of its viewer count in every array of counts. */
  readonly index: number
  /** The feed entry that started it; 0 if it started before the journal begins. */
  since: number
  login: string
  /** The display name, normalized. */
  name: string
  /** The numbers of its game and its language. */
  game: number
  language: number
  live: boolean
  /** The stream as JSON with 0 viewers, and the position of that 0. Empty until its details are read (`details.ts`). */
  text: string
  gap: number
  /** The last rendered JSON, and its viewer count. */
  rendered: string
  renderedCount: number
}

/** Whether more is known of a stream than its rank. */
export const hasDetails = (row: LiveRow): boolean => row.text !== ''

/** A row of a page: its rank, and the stream as JSON. */
export interface RenderedStream extends Rank {
  readonly json: string
}

/** What the text of a row consists of, beside its id. */
export type ShownFields = Omit<LiveStream, 'id' | 'viewer_count'>

const COUNT = '"viewer_count":'

/** The JSON of a stream with a gap for its viewer count. The fields are in the order of the contract. */
export function withGap(
  id: string,
  stream: ShownFields,
  thumbnail_url: string,
): Pick<LiveRow, 'text' | 'gap'> {
  const text = JSON.stringify({
    id,
    user_id: stream.user_id,
    user_login: stream.user_login,
    user_name: stream.user_name,
    game_id: stream.game_id,
    game_name: stream.game_name,
    type: 'live',
    title: stream.title,
    viewer_count: 0,
    started_at: stream.started_at,
    language: stream.language,
    thumbnail_url,
    tag_ids: [],
    tags: stream.tags,
    is_mature: stream.is_mature,
  } satisfies Stream)
  // Cannot match within a value, where quotes are escaped.
  return { text, gap: text.indexOf(`,${COUNT}0,`) + 1 + COUNT.length }
}

export function renderRow(row: LiveRow, viewer_count: number): RenderedStream {
  if (row.renderedCount !== viewer_count) {
    row.rendered = `${row.text.slice(0, row.gap)}${viewer_count}${row.text.slice(row.gap + 1)}`
    row.renderedCount = viewer_count
  }
  return { id: row.id, viewer_count, json: row.rendered }
}
