import type { Database } from '../database.ts'
import { limitedTo, sql } from '../sql/tag.ts'

/** The file of a recording in the folder of a node, or in the bucket. */
export interface RecordingFile {
  readonly video_id: string
  /** From 1, in the order in which nodes received the stream. */
  readonly part: number
  readonly folder: string
  readonly url: string
  readonly state: 'local' | 'uploading' | 'stored'
  readonly published_at: string
  readonly changed_at: string
}

const files = sql`select video_id, part, folder, url, state, published_at, changed_at from recording_files`

export const recordingFileQueries = (db: Database) => ({
  /** In the order of their parts. */
  of: (video_id: string): Promise<RecordingFile[]> =>
    db.all<RecordingFile>(sql`${files} where video_id = ${video_id} order by part`),

  /** The playlists of the files of a video, as far as they are known. */
  playlistsOf: async (video_id: string): Promise<ReadonlyMap<number, string>> => {
    const rows = await db.all<{ part: number; playlist: string }>(
      sql`select part, playlist from recording_files where video_id = ${video_id} and playlist is not null`,
    )
    return new Map(rows.map(({ part, playlist }) => [part, playlist]))
  },

  /** The files of a user by video and part, some at a time. */
  ofUser: (
    user_id: string,
    { video_id, part }: { video_id: string; part: number },
    count: number,
  ): Promise<RecordingFile[]> =>
    db.all<RecordingFile>(
      sql`${files} where video_id in (select id from videos where user_id = ${user_id})
            and (video_id, part) > (${video_id}, ${part}) order by video_id, part${limitedTo(count)}`,
    ),

  /** All files by video and part, some at a time. */
  after: ({ video_id, part }: { video_id: string; part: number }, count: number): Promise<RecordingFile[]> =>
    db.all<RecordingFile>(
      sql`${files} where (video_id, part) > (${video_id}, ${part}) order by video_id, part${limitedTo(count)}`,
    ),
})
