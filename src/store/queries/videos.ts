import type { Page, PageRequest } from '../../contract/page.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import type { Video as ListedVideo } from '../../contract/resources/video.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import type { Database } from '../database.ts'
import { filteredPage, keysetPage, preparedList } from '../keyset.ts'
import { inOrderThenByNumber, type Order, orderBy } from '../keyset-order.ts'
import { all, isOneOf, sql, statement } from '../sql/tag.ts'
import type { SessionId } from './media-servers.ts'

/** A video and its user. */
export type Video = Omit<ListedVideo, 'duration_seconds' | 'marker_count' | 'is_live'>

/** The id of a video, and its owner. */
export type OwnedVideo = Pick<Video, 'id' | 'user_id' | 'user_login' | 'user_name'>

/** A video with everything an operator sees; the duration is computed. */
export type VideoRow = Omit<ListedVideo, 'duration_seconds'>

/** A `VideoRow` as the engines return it: PostgreSQL returns counts as text, and `is_live` is 1 or null. */
type StoredVideo = Omit<VideoRow, 'marker_count' | 'is_live'> & {
  marker_count: number | string
  is_live: number | null
}

/** The user is looked up for each row of the page: PostgreSQL might start a join with the users. */
const videoColumns = sql`v.id, v.stream_id, v.user_id, (select login from users u where u.id = v.user_id) as user_login,
    (select display_name from users u where u.id = v.user_id) as user_name, v.title, v.description, v.language,
    coalesce(v.game_id, '') as game_id, v.view_count, v.created_at, v.ended_at`
const videos = sql`select ${videoColumns} from videos v`
/** The user is not suspended (D-270). */
const isShown = sql`(select suspended_at from users u where u.id = v.user_id) is null`
const ownedVideos = sql`select v.id, v.user_id, u.login as user_login, u.display_name as user_name
  from videos v join users u on u.id = v.user_id and u.suspended_at is null`
const ownedVideo = statement(['id'], ({ id }) => sql`${ownedVideos} where v.id = ${id}`)
const latestVideo = statement(
  ['user_id'],
  ({ user_id }) =>
    sql`${ownedVideos} where v.id = coalesce(
          (select video_id from streams where user_id = ${user_id}),
          (select id from videos where user_id = ${user_id} and ended_at is not null
            order by ended_at desc, length(id) desc, id desc limit 1))`,
)
const listedVideos = sql`select ${videoColumns},
    (select count(*) from video_markers m where m.video_id = v.id) as marker_count,
    (select 1 from streams s where s.video_id = v.id) as is_live
  from videos v`
const readVideo = (row: StoredVideo): VideoRow => ({
  ...row,
  marker_count: Number(row.marker_count),
  is_live: row.is_live === 1,
})
const inOrder = orderBy('created_at', 'id')
export const videoSortKey = inOrder.sortKey

const EARLY_RECORDING_MILLISECONDS = 5000

/** The videos of a user or of a game. */
interface VideoFilter {
  readonly user_id?: string | undefined
  readonly game_id?: string | undefined
  readonly language?: string | undefined
  /** Only videos from this time on. */
  readonly since?: string | undefined
  readonly sort: VideoSort
}

type VideoSort = 'time' | 'views'

/**
 * Newest first, or most viewed first and then newest (D-89). Only the view count can change: a walk returns every video
 * exactly once, except for those whose count changes while it lasts.
 */
const SORTS = {
  time: inOrderThenByNumber(['created_at'], 'id'),
  views: inOrderThenByNumber(['view_count', 'created_at'], 'id'),
} as const

export const sortKeyFor = (sort: VideoSort) => SORTS[sort].sortKey

/** The order, down to rows of this time. A cursor names rows within it, so only what follows at other times needs the bound. */
function downTo(order: Order, since: string): Order {
  const within = sql`created_at >= ${since}`
  return {
    ...order,
    all: down => (down ? { ...order.all(down), where: within } : order.all(down)),
    after: (from, down) => {
      const parts = order.after(from, down)
      const last = parts.at(-1)
      if (!down || last?.where === undefined) return parts
      return [...parts.slice(0, -1), { ...last, where: all([last.where, within]) }]
    },
  }
}

export const videoQueries = (db: Database) => ({
  /** Undefined also if the user is suspended, here and in all that is for everyone. */
  find: (id: string) => db.get<Video>(sql`${videos} where v.id = ${id} and ${isShown}`),

  owned: (id: string) => db.get<OwnedVideo>(ownedVideo({ id })),

  /** The videos with these ids that exist. */
  named: (ids: readonly string[]) =>
    db.all<Video>(sql`${videos} where ${isOneOf(sql`v.id`, ids)} and ${isShown}`),

  /** The user's latest video: that of the running stream, otherwise the one that ended last (D-41). */
  latestOf: (user_id: string) => db.get<OwnedVideo>(latestVideo({ user_id })),

  /** The node that has the recording of a video, empty if there is only one; or where a media server has it. Undefined: none. */
  recordingUrl: async (id: string): Promise<string | undefined> => {
    const video = await db.get<{ recording_url: string | null }>(
      sql`select v.recording_url from videos v where v.id = ${id} and ${isShown}`,
    )
    return video?.recording_url ?? undefined
  },

  /** The video of a user's running stream, if it is being recorded. */
  recordedNow: async (user_id: string): Promise<string | undefined> => {
    const video = await db.get<{ id: string }>(
      sql`select v.id from streams s join videos v on v.id = s.video_id
          where s.user_id = ${user_id} and v.recording_url is not null`,
    )
    return video?.id
  },

  /** The video of a publish session, if it has no recording yet. */
  unrecordedOf: async ({ adapter, server, session }: SessionId): Promise<string | undefined> => {
    const video = await db.get<{ id: string }>(
      sql`select v.id from publish_sessions p
            join videos v on v.user_id = p.user_id and v.stream_id = p.stream_id and v.recording_url is null
          where p.adapter = ${adapter} and p.server = ${server} and p.session = ${session}`,
    )
    return video?.id
  },

  /** The video of a channel whose stream a media server recorded since a time, if it has no recording yet. */
  unrecordedAt: async (login: string, since: number): Promise<string | undefined> => {
    // The recording may start before the stream.
    const [from, to] = [isoSeconds(since), isoSeconds(since + EARLY_RECORDING_MILLISECONDS)]
    const video = await db.get<{ id: string; recording_url: string | null }>(
      sql`select id, recording_url from videos
          where user_id = (select id from users where login = ${login}) and created_at <= ${to}
            and (ended_at is null or ended_at >= ${from})
          order by created_at desc limit 1`,
    )
    return video?.recording_url === null ? video.id : undefined
  },

  /** Which of these videos exist. */
  existing: async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await db.all<{ id: string }>(sql`select id from videos where ${isOneOf(sql`id`, ids)}`)
    return new Set(rows.map(row => row.id))
  },

  /** A video as an operator sees it. */
  inFull: async (id: string): Promise<VideoRow | undefined> => {
    const row = await db.get<StoredVideo>(sql`${listedVideos} where v.id = ${id}`)
    return row && readVideo(row)
  },

  /** Newest first. */
  page: async (
    filter: { readonly user_id?: string | undefined },
    window: PageRequest,
  ): Promise<Page<VideoRow>> => {
    const page = await keysetPage<StoredVideo>(db, {
      select: listedVideos,
      where: filter.user_id === undefined ? [] : [sql`user_id = ${filter.user_id}`],
      order: inOrder,
      descending: true,
      window,
    })
    return { ...page, rows: page.rows.map(readVideo) }
  },

  /**
   * The videos of a user or of a game. Those of suspended users, of another language, and with `views` of another time, are
   * passed over.
   */
  listed: async (
    { user_id, game_id, language, since, sort }: VideoFilter,
    window: PageRequest,
  ): Promise<Page<Video>> => {
    const order = SORTS[sort]
    const page = await filteredPage<Video & { is_shown: number | boolean }>(db, {
      select: sql`select ${videoColumns}, ${isShown} as is_shown from videos v`,
      where: [user_id === undefined ? sql`game_id = ${game_id ?? ''}` : sql`user_id = ${user_id}`],
      order: since === undefined || sort === 'views' ? order : downTo(order, since),
      descending: true,
      window,
      filter: row =>
        Boolean(row.is_shown) &&
        (language === undefined || row.language === language) &&
        (since === undefined || row.created_at >= since),
    })
    return { ...page, rows: page.rows.map(({ is_shown: _, ...video }) => video) }
  },
})

const markerColumns = sql`select id, created_at, description, position_seconds from video_markers`
const byPosition = orderBy('position_seconds', 'id')
export const markerSortKey = byPosition.sortKey

const markersOfVideo = preparedList<StreamMarker, { video_id: string }>(['video_id'], ({ video_id }) => ({
  select: markerColumns,
  where: [sql`video_id = ${video_id}`],
  order: byPosition,
}))

export const markerQueries = (db: Database) => ({
  ofVideo: (video_id: string, window: PageRequest): Promise<Page<StreamMarker>> =>
    markersOfVideo(db, { video_id }, window),
})
