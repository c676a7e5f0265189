import type { Stream } from '../contract/resources/stream.ts'

const COUNT = '"viewer_count":'

/** The row as text with no viewers, and where their number stands; the order of fields is that of the contract. */
export function withGap(stream: Stream): { text: string; gap: number } {
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
