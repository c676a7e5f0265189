/** Playback sessions: how players report that someone watches, where no media server counts viewers (D-121). */

/** How often a player sends a heartbeat. */
export const HEARTBEAT_SECONDS = 30
/** A session counts for this long after its last heartbeat: one may be lost, and the next one may be late. */
export const LAPSE_MILLISECONDS = 75_000
/** How long a session may be used. */
export const SESSION_MILLISECONDS = 12 * 3_600_000
/** The length of a session id, in characters. */
export const SESSION_ID_LENGTH = 8

/** A playback session. */
export interface PlaybackSession {
  readonly id: string
  /** The channel. */
  readonly user_id: string
  /** What is watched. The viewers of a stream are those who watch it live. */
  readonly watches: 'live' | 'video'
}

/** Whether something heard of at this time counts now. A time in the future is that of a clock that was set back. */
export function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < LAPSE_MILLISECONDS
}

/** The sessions of several nodes, without those that more than one node heard of. */
export function countSessions(lists: readonly string[]): number {
  const ids = new Set<string>()
  for (const list of lists)
    for (let at = 0; at < list.length; at += SESSION_ID_LENGTH)
      ids.add(list.slice(at, at + SESSION_ID_LENGTH))
  return ids.size
}
