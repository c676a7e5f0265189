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
  /** When it began, in milliseconds since 1970. */
  readonly began: number
  /** The user who watches, if the session names one (D-210). */
  readonly viewer: string | undefined
}

/** A session of a live stream that names its viewer. */
export interface ViewerSession extends PlaybackSession {
  readonly watches: 'live'
  readonly viewer: string
}

export const namesViewer = (session: PlaybackSession): session is ViewerSession =>
  session.watches === 'live' && session.viewer !== undefined

/** Whether something heard of at this time counts now. A time in the future is that of a clock that was set back. */
export function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < LAPSE_MILLISECONDS
}

/** A reader of playlists counts for this long after its last request (D-259). */
export const READER_MILLISECONDS = 45_000

/**
 * Readers of playlists are listed among the sessions, by what their address and program hash to: one that reads, and one that
 * a session is known of. Both marks are in no session id, which are base64url.
 */
export const [READS, HAS_SESSION] = ['!', '~']
export const READER_ID_LENGTH: number = SESSION_ID_LENGTH - 1

/** The viewers that several nodes heard of: sessions, and readers without one, each once. */
export function countSessions(lists: readonly string[]): number {
  const ids = new Set<string>()
  for (const list of lists)
    for (let at = 0; at < list.length; at += SESSION_ID_LENGTH)
      ids.add(list.slice(at, at + SESSION_ID_LENGTH))
  let count = 0
  for (const id of ids) {
    if (id.startsWith(HAS_SESSION)) continue
    if (!id.startsWith(READS) || !ids.has(HAS_SESSION + id.slice(1))) count += 1
  }
  return count
}
