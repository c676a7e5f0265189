import type { Page, PageRequest } from '../../contract/page.ts'
import type { AdapterName, MediaServer } from '../../contract/resources/media-server.ts'
import { Columns, fixed, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { orderBy } from '../keyset-order.ts'
import { isOneOf, limitedTo, sql } from '../sql/tag.ts'

const BY_NAME = orderBy('name')
export const mediaServerSortKey = BY_NAME.sortKey

export const mediaServerColumns = new Columns<MediaServer>('media_servers', {
  name: plain,
  adapter: fixed,
  api_url: plain,
  playback_url: plain,
  user_id: plain,
  created_at: fixed,
})
const { select } = mediaServerColumns

/** The publisher of a media server; a media server may reuse the id after a restart. */
export interface SessionId {
  readonly adapter: string
  readonly server: string
  readonly session: string
}

/** A media server, and where its API is. */
export interface MediaServerAddress {
  readonly name: string
  readonly adapter: AdapterName
  readonly api_url: string | null
}

/** A media server with the hashes of its secrets. */
export interface MediaServerRow extends MediaServerAddress {
  readonly secret_hash: string
  readonly previous_hash: string | null
  readonly previous_until: string | null
}

/** A publisher of a media server, as the store knows it. */
export interface KnownSession {
  readonly session: string
  /** Empty if the user was deleted. */
  readonly user_id: string
  /** As the media server knows the publisher, also after a change of the login. */
  readonly login: string
  readonly current_login: string
  readonly ended_at: string | null
  readonly dismissed_at: string | null
}

/** A publisher whose recording may need an index. */
export interface UnrecordedSession {
  readonly session: string
  readonly alive_at: string
  readonly ended_at: string | null
  readonly video_id: string | null
  readonly stream_started_at: string | null
}

/** All of them are held in memory. */
const MOST_SERVERS = 1000
const MOST_DISMISSALS = 1000

export const mediaServerQueries = (db: Database) => ({
  find: (name: string): Promise<MediaServer | undefined> =>
    db.get<MediaServer>(sql`${select} where name = ${name}`),

  page: (window: PageRequest): Promise<Page<MediaServer>> =>
    keysetPage<MediaServer>(db, { select, order: BY_NAME, window }),

  all: (): Promise<MediaServerRow[]> =>
    db.all<MediaServerRow>(
      sql`select name, adapter, api_url, secret_hash, previous_hash, previous_until
          from media_servers order by name${limitedTo(MOST_SERVERS)}`,
    ),

  /** The sessions of a media server: live ones, and those that ended a short time ago. */
  sessionsOf: (adapter: string, server: string): Promise<KnownSession[]> =>
    db.all<KnownSession>(
      sql`select p.session, p.user_id, p.published_as as login, u.login as current_login,
            p.ended_at, p.dismissed_at
          from publish_sessions p join users u on u.id = p.user_id
          where p.adapter = ${adapter} and p.server = ${server}
          union all
          select session, '' as user_id, login, '' as current_login, departed_at as ended_at, departed_at as dismissed_at
          from disconnected_publishers where adapter = ${adapter} and server = ${server}`,
    ),

  /** The sessions of a media server that are live, or whose recording is not known to be complete, with their videos. */
  unrecordedSessionsOf: (adapter: string, server: string): Promise<UnrecordedSession[]> =>
    db.all<UnrecordedSession>(
      sql`select p.session, p.alive_at, p.ended_at, v.id as video_id, v.created_at as stream_started_at
          from publish_sessions p left join videos v on v.user_id = p.user_id and v.stream_id = p.stream_id
          where p.adapter = ${adapter} and p.server = ${server} and p.recorded_at is null`,
    ),

  session: (id: SessionId): Promise<{ dismissed_at: string | null } | undefined> =>
    db.get<{ dismissed_at: string | null }>(
      sql`select dismissed_at from publish_sessions
          where adapter = ${id.adapter} and server = ${id.server} and session = ${id.session}
          union all
          select departed_at as dismissed_at from disconnected_publishers
          where adapter = ${id.adapter} and server = ${id.server} and session = ${id.session}`,
    ),

  liveSessionOf: (user_id: string): Promise<SessionId | undefined> =>
    db.get<SessionId>(
      sql`select adapter, server, session from publish_sessions where user_id = ${user_id} and ended_at is null`,
    ),

  /** Sessions whose publishers have to be disconnected by a media server of these adapters that has an API. */
  dismissed: (adapters: readonly string[]): Promise<(SessionId & { login: string })[]> =>
    db.all<SessionId & { login: string }>(
      sql`select due.adapter, server, session, login from (
            select p.adapter, p.server, p.session, p.published_as as login, p.dismissed_at
            from publish_sessions p
            where p.dismissed_at is not null and p.adapter <> 'embedded'
            union all
            select adapter, server, session, login, dismissed_at from disconnected_publishers
            where dismissed_at is not null) as due
          join media_servers m on m.name = due.server and m.adapter = due.adapter and m.api_url is not null
          where ${isOneOf(sql`due.adapter`, adapters)}
          order by dismissed_at${limitedTo(MOST_DISMISSALS)}`,
    ),
})
