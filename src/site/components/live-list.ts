/**
 * The list of live channels while people look at it. Cards stay where they are: numbers and titles change in place, a
 * stream that ends stays as ended, and what is new is added at the end, or counted if its place is further up.
 */
import { type ShownStream, toShownStream } from './stream-card.tsx'

export interface LiveList {
  readonly streams: readonly ShownStream[]
  /** The ids of streams that have ended since they were loaded. */
  readonly ended: ReadonlySet<string>
  /** Channels that went live and would be above the last one. */
  readonly waiting: number
}

export const toLiveList = (streams: readonly ShownStream[]): LiveList => ({
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
  const known = new Set(list.streams.map(({ user_id }) => user_id))
  const added = top.filter(({ user_id }) => !known.has(user_id))
  const current = updated(list, top, () => isWhole)
  return isWhole
    ? { ...current, streams: [...current.streams, ...added], waiting: 0 }
    : { ...current, waiting: added.length }
}

/** The list after these users were looked up; those who are not among `live` have ended their streams. */
export function lookedUp(
  list: LiveList,
  user_ids: readonly string[],
  live: readonly ShownStream[],
): LiveList {
  const asked = new Set(user_ids)
  return updated(list, live, user_id => asked.has(user_id))
}

/** The list with these streams as they are now. Of the others, those end that `hasEnded` names. */
function updated(
  list: LiveList,
  live: readonly ShownStream[],
  hasEnded: (user_id: string) => boolean,
): LiveList {
  const byUser = new Map(live.map(stream => [stream.user_id, stream]))
  const ended = new Set(list.ended)
  const streams = list.streams.map(stream => {
    const fresh = byUser.get(stream.user_id)
    if (fresh === undefined && hasEnded(stream.user_id)) ended.add(stream.id)
    return fresh === undefined || isSame(stream, fresh) ? stream : fresh
  })
  return { ...list, streams, ended }
}

const isSame = (one: ShownStream, other: ShownStream): boolean =>
  JSON.stringify(toShownStream(one)) === JSON.stringify(toShownStream(other))
