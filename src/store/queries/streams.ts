import { type Refusal, refuse } from '../../contract/problem.ts'
import type { EncoderStatus } from '../../domain/encoder-status.ts'
import { LAPSE_MILLISECONDS } from '../../domain/playback.ts'
import {
  DISMISSED_MILLISECONDS,
  LATE_MILLISECONDS,
  SILENT_MILLISECONDS,
} from '../../domain/publish-session.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Lookup } from '../combinable.ts'
import type { Database } from '../database.ts'
import type { LiveStream } from '../feed.ts'
import { isOneOf, type Sql, sql, verbatim } from '../sql/tag.ts'

/** The columns of the table of streams that decide about the rank. */
export type RankedStream = Pick<LiveStream, 'id' | 'user_id' | 'viewer_count' | 'started_at'>

/** The fields that a stream takes from its channel and user. The name of the game is looked up separately. */
export type ChannelDetails = Omit<LiveStream, 'id' | 'viewer_count' | 'started_at' | 'game_name'>

type Stored<T extends Pick<LiveStream, 'tags' | 'is_mature'>> = Omit<T, 'tags' | 'is_mature'> & {
  tags: string
  is_mature: number
}

type LiveRow = Stored<LiveStream>

/** Live streams as the directory shows them, for the rows of `streams s` that match the condition. */
export async function liveStreams(db: Database, where: Sql): Promise<LiveStream[]> {
  return (await db.all<LiveRow>(sql`${liveFrom(verbatim('streams'))} where ${where}`)).map(readLive)
}

const liveFrom = (
  streams: Sql,
) => sql`select s.id, s.user_id, u.login as user_login, u.display_name as user_name,
    coalesce(c.game_id, '') as game_id, coalesce(g.name, '') as game_name, c.title, s.viewer_count,
    s.started_at, c.language, c.tags, c.is_mature
  from ${streams} s
  join users u on u.id = s.user_id
  join channels c on c.user_id = s.user_id
  left join games g on g.id = c.game_id`

/** The live stream of a channel. */
export const liveStreamOf: Lookup<LiveRow> = {
  column: 'user_id',
  select: liveFrom(verbatim('streams')),
  by: sql`s.user_id`,
}

/** Changes the row: at the start there are as many as live streams, and copies of all of them take a tenth of the time. */
export const readLive = (row: LiveRow): LiveStream => readStored(row)

function readStored<T extends { readonly tags: string; readonly is_mature: number }>(row: T) {
  return Object.assign(row, { tags: JSON.parse(row.tags) as string[], is_mature: row.is_mature === 1 })
}

/** Where a broadcast can be watched. */
export interface BroadcastPlace {
  readonly adapter: string
  /** The node of an embedded media server. */
  readonly watch_url: string | null
  /** The template of another media server. */
  readonly playback_url: string | null
  /** When its publisher left; null while it is connected. */
  readonly ended_at: string | null
}

const broadcastPlaces = sql`select p.adapter, p.watch_url, m.playback_url, p.ended_at from publish_sessions p
  left join media_servers m on m.name = p.server and m.adapter = p.adapter`

/** Why a user has no running stream: the channel is not live, or does not exist. */
export async function refuseNotLive(
  db: Database,
  user_id: string,
): Promise<Refusal<'not_found' | 'not_live'>> {
  const user = await db.get<{ login: string }>(sql`select login from users where id = ${user_id}`)
  return user === undefined ? refuse('not_found', 'channel', user_id) : refuse('not_live', user.login)
}

/** The time, and how long a stream stays live without a publisher. */
export interface BroadcastsDue {
  readonly now: number
  readonly graceSeconds: number
  /** Since when this process could receive signs of life; default: always. Before that, silence means nothing. */
  readonly listensSince?: number
}

/** A publisher of a deleted user is remembered for 30 days: no encoder publishes for so long without a pause. */
const DEPARTED_MILLISECONDS = 30 * 24 * 3600 * 1000

export const dueLimits = ({ now, graceSeconds, listensSince = 0 }: BroadcastsDue) => ({
  silentBefore: now - listensSince < SILENT_MILLISECONDS ? '' : isoMillis(now - SILENT_MILLISECONDS),
  stoppedBefore: isoMillis(now - graceSeconds * 1000),
  endedBefore: isoMillis(now - graceSeconds * 1000 - LATE_MILLISECONDS),
  dismissedBefore: isoMillis(now - DISMISSED_MILLISECONDS),
  departedBefore: isoMillis(now - DEPARTED_MILLISECONDS),
})

/** Sessions whose events are over. A media server must not bring back a publisher that it has to disconnect. */
export const forgottenSessions = ({ endedBefore, dismissedBefore }: ReturnType<typeof dueLimits>): Sql =>
  sql`ended_at < ${endedBefore} and (dismissed_at is null or alive_at < ${dismissedBefore})`

/** Playback sessions of nodes that stopped reporting; a time in the future is that of a clock that was set back. */
export const lapsedViewers = (now: number): Sql =>
  sql`(reported_at < ${isoMillis(now - LAPSE_MILLISECONDS)} or reported_at > ${isoMillis(now + LAPSE_MILLISECONDS)})`

/** A broadcast on an embedded media server. */
export interface NodeBroadcast {
  readonly session: string
  /** Where viewers find its node; null if they cannot. */
  readonly watch_url: string | null
  readonly encoder: EncoderStatus | undefined
}

export const streamQueries = (db: Database) => ({
  live: () => liveStreams(db, sql`1 = 1`),
  /** All live streams, without the fields from other tables: takes a sixth of the time of `live`. */
  ranked: (): Promise<RankedStream[]> =>
    db.all(sql`select id, user_id, viewer_count, started_at from streams`),
  /** The fields that the streams of these users take from their channels. */
  detailsOf: async (user_ids: readonly string[]): Promise<ChannelDetails[]> => {
    const rows = await db.all<Stored<ChannelDetails>>(
      sql`select u.id as user_id, u.login as user_login, u.display_name as user_name,
            coalesce(c.game_id, '') as game_id, c.title, c.language, c.tags, c.is_mature
          from users u join channels c on c.user_id = u.id where ${isOneOf(sql`u.id`, user_ids)}`,
    )
    return rows.map(readStored)
  },
  of: async (user_id: string): Promise<LiveStream | undefined> => {
    const [stream] = await liveStreams(db, sql`s.user_id = ${user_id}`)
    return stream
  },
  /** Where the node with the broadcast of a channel serves it; null if that has no address known to others. */
  watchUrlOf: async (login: string): Promise<string | null | undefined> => {
    const session = await db.get<{ watch_url: string | null }>(
      sql`select p.watch_url from users u join publish_sessions p on p.user_id = u.id and p.ended_at is null
          where u.login = ${login} and p.adapter = 'embedded'`,
    )
    return session?.watch_url
  },
  /** The running broadcast of a channel on an embedded media server, and the node that has it. */
  broadcastOf: async (login: string): Promise<NodeBroadcast | undefined> => {
    const found = await db.get<{ session: string; watch_url: string | null; encoder: string | null }>(
      sql`select p.session, p.watch_url, p.encoder
          from users u join publish_sessions p on p.user_id = u.id and p.ended_at is null
          where u.login = ${login} and p.adapter = 'embedded'`,
    )
    return found && { ...found, encoder: found.encoder ? JSON.parse(found.encoder) : undefined }
  },
  /** What the encoder of a channel sends; undefined if none is connected, or its media server does not measure it. */
  encoderOf: async (user_id: string): Promise<EncoderStatus | undefined> => {
    const session = await db.get<{ encoder: string | null }>(
      sql`select encoder from publish_sessions where user_id = ${user_id} and ended_at is null`,
    )
    return session?.encoder ? JSON.parse(session.encoder) : undefined
  },
  /** The media server that receives the broadcast of a stream, or received it until the reconnect grace began. */
  mediaServerOf: (stream: {
    readonly id: string
    readonly user_id: string
  }): Promise<BroadcastPlace | undefined> =>
    db.get(
      sql`${broadcastPlaces} where p.user_id = ${stream.user_id} and p.ended_at is null
          union all
          ${broadcastPlaces} where p.stream_id = ${stream.id} and p.ended_at is not null
          limit 1`,
    ),
  /** Where the video of these channels plays, of those whose broadcast the embedded media server of a node receives. */
  playing: (
    user_ids: readonly string[],
  ): Promise<readonly { readonly user_id: string; readonly watch_url: string | null }[]> =>
    db.all(
      sql`select user_id, watch_url from publish_sessions
          where ${isOneOf(sql`user_id`, user_ids)} and ended_at is null and adapter = 'embedded'`,
    ),
  /** The channels among these whose players send heartbeats. */
  withHeartbeats: async (user_ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await db.all<{ user_id: string }>(
      sql`select distinct user_id from playback_viewers where ${isOneOf(sql`user_id`, user_ids)}`,
    )
    return new Set(rows.map(row => row.user_id))
  },
  /** The videos among these whose streams have not ended. */
  runningVideos: async (video_ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await db.all<{ video_id: string }>(
      sql`select video_id from streams where ${isOneOf(sql`video_id`, video_ids)}`,
    )
    return new Set(rows.map(row => row.video_id))
  },
  /** Whether `endSilentBroadcasts` has anything to do. */
  hasSilentBroadcasts: async (due: BroadcastsDue): Promise<boolean> => {
    const limits = dueLimits(due)
    const { silentBefore, stoppedBefore } = limits
    const found = await db.get(
      sql`select 1 as yes where exists (
              select 1 from publish_sessions where ended_at is null and alive_at < ${silentBefore})
            or exists (select 1 from streams where stopped_at <= ${stoppedBefore})
            or exists (select 1 from publish_sessions where ${forgottenSessions(limits)})
            or exists (select 1 from disconnected_publishers where departed_at < ${limits.departedBefore})`,
    )
    return found !== undefined
  },
  /** Whether a node stopped reporting playback sessions. */
  hasLapsedViewers: async (now: number): Promise<boolean> =>
    (await db.get(sql`select 1 as yes from playback_viewers where ${lapsedViewers(now)} limit 1`)) !==
    undefined,
  whyNoneOf: (user_id: string) => refuseNotLive(db, user_id),
})
