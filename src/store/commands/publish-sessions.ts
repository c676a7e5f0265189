/**
 * Publish sessions: one row for each publisher, from connect to disconnect, and what they mean for streams.
 *
 * The problem: encoders lose their connection and return, and viewers should see one stream, not two. Media servers report
 * starts and ends late, twice, in another order or never. So a stream has several sessions, one after another, and stays
 * live for the reconnect grace after the last one has ended.
 *
 *     session:  live --> ended --> deleted, when no late event can refer to it any more
 *
 *     stream:   live --the last session ends--> stopped --the grace is over--> ended
 *                 ^------- a session opens --------'
 *
 * | Event | Session | Stream |
 * |---|---|---|
 * | `openSession` | live; another one of the channel ends if this one takes over | starts, or continues |
 * | `closeSession` | ended now | stopped |
 * | `closeOtherSessions`: the media server no longer reports it | ended when it was last alive | stopped |
 * | no sign of life for 20 s | ended when it was last alive | stopped |
 * | `kickPublisher` | ended now, and dismissed | stopped |
 * | the grace is over | | ended when it stopped; later markers move to its end |
 *
 * *Dismissed* is an order: this publisher has to be disconnected. The process that talks to its media server carries it out
 * and clears it (`disconnect-publisher.ts`).
 *
 * What must hold:
 * - A channel has at most one live session. `openSession` locks the row of the channel, and decides under that lock whether
 *   the session may start (`admit` in `domain/publish-session.ts`; `ingest/may-publish.ts` has all rules).
 * - A stream is stopped only if its channel has no live session.
 * - Every event may be repeated or be late. The end of an unknown or ended session changes nothing, and a session that ended
 *   less than 5 s ago does not start again.
 * - A sign of life that is later than an observation wins over it.
 */
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import type { SecondPublisher } from '../../contract/resources/channel.ts'
import type { EncoderStatus } from '../../domain/encoder-status.ts'
import { admit } from '../../domain/publish-session.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import type { SessionId } from '../queries/media-servers.ts'
import { type BroadcastsDue, dueLimits, forgottenSessions } from '../queries/streams.ts'
import { isOneOf, limitedTo, lockRows, sql, valuesTable } from '../sql/tag.ts'
import { disconnectPublisher } from './disconnect-publisher.ts'
import { endRunningStream, startStream } from './streams.ts'

interface SessionRow extends SessionId {
  readonly user_id: string
  readonly stream_id: string
  readonly alive_at: string
  readonly ended_at: string | null
}

const columns = sql`select adapter, server, session, user_id, stream_id, alive_at, ended_at from publish_sessions`
const isSession = ({ adapter, server, session }: SessionId) =>
  sql`adapter = ${adapter} and server = ${server} and session = ${session}`

export interface OpenedSession {
  readonly stream_id: string
  readonly video_id: string | null
  readonly started_at: string
  /** The session that had to end for this one. */
  readonly replaced: SessionId | null
}

/** Starts a session, and with it the stream of the channel unless it is still running. */
export async function openSession(
  tx: Transaction,
  args: SessionId & {
    user_id: string
    /** Where the broadcast can be watched, if not on this node. */
    watch_url: string | null
    /** The ids that stream and video get, if a new stream starts. */
    stream_id: string
    video_id: string
    /** The name by which the media server knows the publisher. Default: the login. */
    published_as?: string
    /** Decides about a second publisher on the same media server, instead of the channel. */
    second_publisher?: SecondPublisher | undefined
    now: number
  },
): Promise<OpenedSession | Refusal<'not_found' | 'user_suspended' | 'channel_busy' | 'session_ended'>> {
  const channel = await tx.get<{ second_publisher: SecondPublisher }>(
    sql`select second_publisher from channels where user_id = ${args.user_id}${lockRows}`,
  )
  if (channel === undefined) return refuse('not_found', 'channel', args.user_id)
  const row = await tx.get<SessionRow>(sql`${columns} where ${isSession(args)}`)
  // A media server that was restarted counts from 1 again: this is another publisher.
  const isReused = row !== undefined && row.user_id !== args.user_id
  const same = isReused ? undefined : row
  const other = await tx.get<SessionRow>(
    sql`${columns} where user_id = ${args.user_id} and ended_at is null and not (${isSession(args)})`,
  )
  const isOfSameServer = other?.adapter === args.adapter && other.server === args.server
  const second = (isOfSameServer && args.second_publisher) || channel.second_publisher
  const admission = admit(args.now, same && sessionTimes(same), other && sessionTimes(other), second)
  if (admission === 'busy') return refuse('channel_busy')
  if (admission === 'late') return refuse('session_ended')
  const now = isoMillis(args.now)
  if (isReused && row.ended_at === null) await close(tx, row, row.alive_at)
  if (admission === 'take over') await disconnectPublisher(tx, args)
  const stream = await startStream(tx, { ...args, started_at: `${now.slice(0, 19)}Z` })
  if (isRefusal(stream)) return stream
  await tx.run(sql`delete from disconnected_publishers where ${isSession(args)}`)
  await tx.run(
    sql`insert into publish_sessions
          (adapter, server, session, user_id, stream_id, watch_url, started_at, alive_at, ended_at, published_as)
        values (${args.adapter}, ${args.server}, ${args.session}, ${args.user_id}, ${stream.id}, ${args.watch_url},
          ${now}, ${now}, null, ${args.published_as ?? stream.user_login})
        on conflict (adapter, server, session) do update set user_id = excluded.user_id,
          published_as = excluded.published_as, stream_id = excluded.stream_id, watch_url = excluded.watch_url, started_at = excluded.started_at,
          alive_at = excluded.alive_at, ended_at = null, dismissed_at = null, recorded_at = null, encoder = null`,
  )
  const running = await tx.get<{ video_id: string | null }>(
    sql`select video_id from streams where user_id = ${args.user_id}`,
  )
  return {
    stream_id: stream.id,
    video_id: running?.video_id ?? null,
    started_at: stream.started_at,
    replaced: admission === 'take over' && other !== undefined ? toSessionId(other) : null,
  }
}

/** Ends a session. Its stream stops, and ends after the grace period. Unknown and ended sessions are left alone. */
export async function closeSession(tx: Transaction, args: SessionId & { now: number }): Promise<void> {
  const session = await tx.get<SessionRow>(
    sql`${columns} where ${isSession(args)} and ended_at is null${lockRows}`,
  )
  if (session !== undefined) await close(tx, session, isoMillis(args.now))
}

/** Notes that the recording of a session is complete. Unknown sessions are left alone. */
export async function noteRecorded(tx: Transaction, args: SessionId & { now: number }): Promise<void> {
  await tx.run(
    sql`update publish_sessions set recorded_at = ${isoMillis(args.now)}
        where ${isSession(args)} and recorded_at is null`,
  )
}

/** Disconnects the publisher of a channel. Its stream stops, and ends after the grace period. */
export async function kickPublisher(
  tx: Transaction,
  args: { user_id: string; now: number },
): Promise<Refusal<'not_found' | 'no_publisher'> | undefined> {
  const user = await tx.get<{ login: string }>(sql`select login from users where id = ${args.user_id}`)
  if (user === undefined) return refuse('not_found', 'channel', args.user_id)
  const session = await tx.get<SessionRow>(
    sql`${columns} where user_id = ${args.user_id} and ended_at is null${lockRows}`,
  )
  if (session === undefined) return refuse('no_publisher', user.login)
  await disconnectPublisher(tx, args)
  await close(tx, session, isoMillis(args.now))
  tx.record({ subject: `channel/${args.user_id}/publisher`, before: toSessionId(session) })
  return undefined
}

/**
 * Ends the sessions of a server that are not among these: they ended when they were last alive. What was observed may be
 * written late, by a process that was stopped for a while: a later sign of life wins.
 */
export async function closeOtherSessions(
  tx: Transaction,
  args: {
    adapter: string
    server: string
    sessions: readonly string[]
    /** Sessions that started later are left alone: the server may not have reported them yet. */
    started_before?: number
    /** When the server was observed: sessions that were alive later are left alone. */
    observed_at?: number
  },
): Promise<number> {
  const live = await tx.all<SessionRow & { started_at: string }>(
    sql`select adapter, server, session, user_id, stream_id, started_at, alive_at, ended_at from publish_sessions
        where adapter = ${args.adapter} and server = ${args.server} and ended_at is null${lockRows}`,
  )
  const known = new Set(args.sessions)
  const { started_before = Infinity, observed_at = Infinity } = args
  const gone = live.filter(
    ({ session, started_at, alive_at }) =>
      !known.has(session) && Date.parse(started_at) < started_before && Date.parse(alive_at) <= observed_at,
  )
  for (const session of gone) await close(tx, session, session.alive_at)
  return gone.length
}

/** Notes that sessions are alive: live ones, and those whose publishers have yet to be disconnected. */
export async function keepSessionsAlive(
  tx: Transaction,
  args: { adapter: string; server: string; sessions: readonly string[]; now: number },
): Promise<void> {
  if (args.sessions.length === 0) return
  await tx.run(
    sql`update publish_sessions set alive_at = ${isoMillis(args.now)}
        where adapter = ${args.adapter} and server = ${args.server}
          and (ended_at is null or dismissed_at is not null)
          and ${isOneOf(sql`session`, args.sessions)}`,
  )
}

/** Notes what the encoders of sessions send. */
export async function reportEncoders(
  tx: Transaction,
  args: {
    adapter: string
    server: string
    encoders: readonly { readonly session: string; readonly status: EncoderStatus }[]
  },
): Promise<void> {
  if (args.encoders.length === 0) return
  const given = valuesTable(
    args.encoders.map(({ session, status }) => ({ session, encoder: JSON.stringify(status) })),
    ['session', 'encoder'],
  )
  await tx.run(
    sql`update publish_sessions set encoder = given.encoder from ${given} as given
        where publish_sessions.adapter = ${args.adapter} and publish_sessions.server = ${args.server}
          and publish_sessions.session = given.session and publish_sessions.ended_at is null`,
  )
}

const BATCH_SIZE = 100

/**
 * Ends sessions without a sign of life, then streams without a publisher since before the grace period, and deletes sessions
 * that ended long ago: some of each, as long as `hasSilentBroadcasts` finds any.
 */
export async function endSilentBroadcasts(tx: Transaction, args: BroadcastsDue): Promise<void> {
  const limits = dueLimits(args)
  const { silentBefore, stoppedBefore } = limits
  const silent = await tx.all<SessionRow>(
    sql`${columns} where ended_at is null and alive_at < ${silentBefore}
        order by alive_at${limitedTo(BATCH_SIZE)}${lockRows}`,
  )
  for (const session of silent) await close(tx, session, session.alive_at)
  const stopped = await tx.all<{ user_id: string; stopped_at: string }>(
    sql`select user_id, stopped_at from streams
        where stopped_at <= ${stoppedBefore}
        order by stopped_at${limitedTo(BATCH_SIZE)}${lockRows}`,
  )
  for (const { user_id, stopped_at } of stopped) {
    const ended = await endRunningStream(tx, { user_id, now: Date.parse(stopped_at) })
    if (ended?.video_id) await capMarkers(tx, { ...ended, video_id: ended.video_id, stopped_at })
  }
  await tx.run(
    sql`delete from publish_sessions where (adapter, server, session) in (
          select adapter, server, session from publish_sessions
          where ${forgottenSessions(limits)}
          order by ended_at${limitedTo(BATCH_SIZE)})`,
  )
  await tx.run(sql`delete from disconnected_publishers where departed_at < ${limits.departedBefore}`)
}

/** Markers of the time in which a publisher was expected back get the last position of the video. */
async function capMarkers(
  tx: Transaction,
  ended: { video_id: string; started_at: string; stopped_at: string },
): Promise<void> {
  const milliseconds = Date.parse(ended.stopped_at) - Date.parse(ended.started_at)
  const end = Math.max(0, Math.floor(milliseconds / 1000))
  await tx.run(
    sql`update video_markers set position_seconds = ${end}
        where video_id = ${ended.video_id} and position_seconds > ${end}`,
  )
}

async function close(tx: Transaction, session: SessionRow, ended_at: string): Promise<void> {
  await tx.lock(sql`select user_id from channels where user_id = ${session.user_id}`, 'channels')
  await markEnded(tx, session, ended_at)
  await tx.run(
    sql`update streams set stopped_at = ${ended_at}
        where user_id = ${session.user_id} and id = ${session.stream_id}
          and not exists (
            select 1 from publish_sessions p where p.user_id = ${session.user_id} and p.ended_at is null)`,
  )
}

async function markEnded(tx: Transaction, session: SessionId, ended_at: string): Promise<void> {
  await tx.run(sql`update publish_sessions set ended_at = ${ended_at} where ${isSession(session)}`)
}

const toSessionId = ({ adapter, server, session }: SessionId): SessionId => ({ adapter, server, session })

const sessionTimes = ({ alive_at, ended_at }: SessionRow) => ({
  alive_at: Date.parse(alive_at),
  ended_at: ended_at === null ? null : Date.parse(ended_at),
})
