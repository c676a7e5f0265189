import type { Page, Window } from '../../contract/page.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import type { Video as ListedVideo } from '../../contract/resources/video.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { inOrderOf, keysetPage } from '../keyset.ts'
import { type Sql, sql, verbatim } from '../sql/tag.ts'

/** A video and its user. */
export interface Video {
  readonly id: string
  readonly user_id: string
  readonly user_login: string
  readonly user_name: string
}

const videoColumns = sql`select v.id, v.user_id, u.login as user_login, u.display_name as user_name
  from videos v join users u on u.id = v.user_id`

/** A video with everything an operator sees; the duration is computed. */
export type VideoRow = Omit<ListedVideo, 'duration_seconds'>

/** The same as returned by the engines: PostgreSQL returns counts as text, and `is_live` is 1 or null. */
type StoredVideo = Omit<VideoRow, 'marker_count' | 'is_live'> & {
  marker_count: number | string
  is_live: number | null
}

const listedFrom = (
  videos: Sql,
) => sql`select v.id, v.user_id, u.login as user_login, u.display_name as user_name, v.created_at,
    v.ended_at, (select count(*) from markers m where m.video_id = v.id) as marker_count,
    (select 1 from streams s where s.video_id = v.id) as is_live
  from ${videos} v join users u on u.id = v.user_id`
const readVideo = (row: StoredVideo): VideoRow => ({
  ...row,
  marker_count: Number(row.marker_count),
  is_live: row.is_live === 1,
})
const inOrder = inOrderOf('created_at', 'id')
export const videoSortKey = (row: Pick<ListedVideo, 'created_at' | 'id'>) => [row.created_at, row.id]

export const videoQueries = (db: Database) => ({
  find: (id: string) => db.get<Video>(sql`${videoColumns} where v.id = ${id}`),

  /** The user's latest video: that of the running stream, otherwise the one that ended last (D-41). */
  latestOf: (user_id: string) =>
    db.get<Video>(
      sql`${videoColumns} where v.id = coalesce(
            (select video_id from streams where user_id = ${user_id}),
            (select id from videos where user_id = ${user_id} and ended_at is not null
              order by ended_at desc, length(id) desc, id desc limit 1))`,
    ),

  /** A video as an operator sees it. */
  inFull: async (id: string): Promise<VideoRow | undefined> => {
    const row = await db.get<StoredVideo>(sql`${listedFrom(verbatim('videos'))} where v.id = ${id}`)
    return row && readVideo(row)
  },

  /** Newest first. */
  page: async (
    filter: { readonly user_id?: string | undefined },
    window: Window,
  ): Promise<Page<VideoRow>> => {
    const page = await keysetPage<StoredVideo>(db, {
      select: sql`select id, user_id, created_at, ended_at from videos`,
      where: filter.user_id === undefined ? [] : [sql`user_id = ${filter.user_id}`],
      around: page => sql`${listedFrom(sql`(${page})`)} order by v.created_at desc, v.id desc`,
      order: inOrder,
      descending: true,
      window,
      keyOf: videoSortKey,
    })
    return { ...page, rows: page.rows.map(readVideo) }
  },
})

const markerColumns = sql`select id, created_at, description, position_seconds from markers`
const byPosition = inOrderOf('position_seconds', 'id')
export const markerSortKey = (row: StreamMarker) => [row.position_seconds, row.id]

export const markerQueries = (db: Database) => ({
  ofVideo: (video_id: string, window: Window): MaybePromise<Page<StreamMarker>> =>
    keysetPage<StreamMarker>(db, {
      select: markerColumns,
      where: [sql`video_id = ${video_id}`],
      order: byPosition,
      window,
      keyOf: markerSortKey,
    }),
})
