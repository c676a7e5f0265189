/**
 * The list of live channels while people look at it. Cards stay where they are: numbers and titles change in place, a
 * stream that ends stays as ended, and what is new is added at the end, or counted if its place is further up.
 */
import { type ShownStream, shownOf } from './components/stream-card.tsx'

export interface LiveList {
  readonly streams: readonly ShownStream[]
  /** The ids of streams that have ended since they were loaded. */
  readonly ended: ReadonlySet<string>
  /** Channels that went live and would be above the last one. */
  readonly waiting: number
}

export const listOf = (streams: readonly ShownStream[]): LiveList => ({
  streams,
  ended: new Set(),
  waiting: 0,
})

/** The next page behind the list. A channel that is in the list already is not added again. */
export function withMore(list: LiveList, more: readonly ShownStream[]): LiveList {
  const known = new Set(list.streams.map(({ user_id }) => user_id))
  return { ...list, streams: [...list.streams, ...more.filter(({ user_id }) => !known.has(user_id))] }
}

/** The list after `top`, the first streams as they are now. `isWhole`: there are no others. */
export function refreshed(list: LiveList, top: readonly ShownStream[], isWhole: boolean): LiveList {
  const byUser = new Map(top.map(stream => [stream.user_id, stream]))
  const known = new Set(list.streams.map(({ user_id }) => user_id))
  const added = top.filter(({ user_id }) => !known.has(user_id))
  const ended = new Set(list.ended)
  const streams = list.streams.map(stream => {
    const fresh = byUser.get(stream.user_id)
    if (fresh === undefined) {
      if (isWhole) ended.add(stream.id)
      return stream
    }
    return isSame(stream, fresh) ? stream : fresh
  })
  return isWhole
    ? { streams: [...streams, ...added], ended, waiting: 0 }
    : { streams, ended, waiting: added.length }
}

/** The list after these users were looked up; those who are not among `live` have ended their streams. */
export function lookedUp(
  list: LiveList,
  user_ids: readonly string[],
  live: readonly ShownStream[],
): LiveList {
  const asked = new Set(user_ids)
  const byUser = new Map(live.map(stream => [stream.user_id, stream]))
  const ended = new Set(list.ended)
  const streams = list.streams.map(stream => {
    if (!asked.has(stream.user_id)) return stream
    const fresh = byUser.get(stream.user_id)
    if (fresh === undefined) ended.add(stream.id)
    return fresh === undefined || isSame(stream, fresh) ? stream : fresh
  })
  return { ...list, streams, ended }
}

const isSame = (one: ShownStream, other: ShownStream): boolean =>
  JSON.stringify(shownOf(one)) === JSON.stringify(shownOf(other))
