/**
 * Decisions about publish sessions. Their events come from media servers, over networks and through restarts: they may be
 * lost, repeated or out of order, and a publisher that was refused may report that it ended.
 */
import type { SecondPublisher } from '../contract/resources/channel.ts'

/** A live session that shows no sign of life for this long is over. */
export const SILENT_MILLISECONDS = 20_000
/** A session that starts again so soon after its end is a late or repeated event, not a new publisher with a reused id. */
export const LATE_MILLISECONDS = 5000

/** A publisher that has to be disconnected is remembered until its media server has not reported it for this long. */
export const DISMISSED_MILLISECONDS = 10 * 60_000

/** Times are milliseconds since 1970. */
export interface PublishSession {
  readonly alive_at: number
  readonly ended_at: number | null
}

export type Admission =
  /** The session is live already. */
  | 'known'
  /** The event is late: the session has ended. */
  | 'late'
  /** Another session of the channel is live, and stays. */
  | 'busy'
  /** The session starts. */
  | 'start'
  /** The session starts, and the other session of the channel ends. */
  | 'take over'

/** Whether a session may start. `same` has the same id, `other` is the live session of the channel. */
export function admit(
  now: number,
  same: PublishSession | undefined,
  other: PublishSession | undefined,
  secondPublisher: SecondPublisher,
): Admission {
  if (same !== undefined && same.ended_at === null) return 'known'
  if (same?.ended_at != null && now - same.ended_at < LATE_MILLISECONDS) return 'late'
  if (other === undefined) return 'start'
  const isSilent = now - other.alive_at >= SILENT_MILLISECONDS
  return isSilent || secondPublisher === 'take_over' ? 'take over' : 'busy'
}

/**
 * When a session was last heard of, whose media server was restarted: when it was reported as alive, or at the end of what
 * was recorded, which has the position in the stream. All times are ISO text but `now`.
 */
export function lastHeard(
  session: { readonly alive_at: string; readonly stream_started_at: string | null },
  recordedMilliseconds: number | undefined,
  now: number,
): number {
  const start = session.stream_started_at === null ? 0 : Date.parse(session.stream_started_at)
  const heard = Math.max(Date.parse(session.alive_at), start + (recordedMilliseconds ?? 0))
  return Math.min(heard, now)
}

const KEY_PARAMETERS = ['key', 'token', 'pass'] as const

/** What a publisher presents: the key as the name, or a login with the key in the query. */
export interface PublishCredentials {
  readonly key: string
  readonly login?: string
}

/** Undefined if there is no key. A parameter that is given twice is not accepted. */
export function readPublishName(name: string): PublishCredentials | undefined {
  const [path = '', query] = name.split('?', 2)
  if (query === undefined) return path === '' ? undefined : { key: path }
  const parameters = new URLSearchParams(query)
  const keys = KEY_PARAMETERS.flatMap(parameter => parameters.getAll(parameter))
  const [key] = keys
  if (keys.length === 0) return path === '' ? undefined : { key: path }
  if (key === undefined || key === '' || keys.length > 1 || path === '') return undefined
  return { key, login: path.toLowerCase() }
}
