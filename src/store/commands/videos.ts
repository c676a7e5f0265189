import { type Refusal, refuse } from '../../contract/problem.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, sql } from '../sql/tag.ts'

/** The facts of a video that the audit log keeps. */
interface StoredVideo {
  readonly id: string
  readonly user_id: string
  readonly stream_id: string | null
  readonly title: string
  readonly description: string
  readonly language: string
  readonly game_id: string | null
  readonly view_count: number
  readonly created_at: string
  readonly ended_at: string | null
}

/** Locks and returns the videos that exist, and locks their streams first, as ending a stream does. */
async function lockVideos(tx: Transaction, ids: readonly string[]): Promise<StoredVideo[]> {
  await tx.lock(
    sql`select user_id from streams where ${isOneOf(sql`video_id`, ids)} order by user_id`,
    'streams',
  )
  await tx.lock(sql`select id from videos where ${isOneOf(sql`id`, ids)} order by id`, 'videos')
  return tx.all<StoredVideo>(
    sql`select id, user_id, stream_id, title, description, language, game_id, view_count, created_at, ended_at
        from videos where ${isOneOf(sql`id`, ids)}`,
  )
}

async function removeVideos(tx: Transaction, videos: readonly StoredVideo[]): Promise<void> {
  const ids = videos.map(video => video.id)
  await tx.run(sql`delete from videos where ${isOneOf(sql`id`, ids)}`)
  for (const { id, ...before } of videos) tx.record({ subject: videoSubject(id), before })
}

const videoSubject = (id: string): string => `video/${id}`

/** Notes which node has the recording of a video. */
export async function noteRecording(tx: Transaction, args: { video_id: string; url: string }): Promise<void> {
  await tx.run(sql`update videos set recording_url = ${args.url} where id = ${args.video_id}`)
}

/** Deletes a video and its markers. A running stream continues without a video. */
export async function deleteVideo(tx: Transaction, args: { id: string }) {
  const videos = await lockVideos(tx, [args.id])
  if (videos.length === 0) return refuse('not_found', 'video', args.id)
  await removeVideos(tx, videos)
  return undefined
}

/** Deletes those of the videos that exist if all of them belong to the user, and returns their ids in the given order. */
export async function deleteVideos(
  tx: Transaction,
  args: { ids: readonly string[]; user_id: string },
): Promise<string[] | Refusal<'not_video_owner'>> {
  const found = new Map((await lockVideos(tx, args.ids)).map(video => [video.id, video]))
  const videos = [...new Set(args.ids)].flatMap(id => found.get(id) ?? [])
  if (videos.some(video => video.user_id !== args.user_id)) return refuse('not_video_owner')
  if (videos.length > 0) await removeVideos(tx, videos)
  return videos.map(video => video.id)
}

/** The title of a running stream's video is that of the channel (D-92). */
export async function changeVideo(
  tx: Transaction,
  args: Changes<Pick<StoredVideo, 'title' | 'description' | 'view_count'>> & { readonly id: string },
): Promise<undefined | Refusal<'not_found' | 'in_use'>> {
  const [video] = await lockVideos(tx, [args.id])
  if (video === undefined) return refuse('not_found', 'video', args.id)
  const { title, description, view_count } = video
  if (args.title !== undefined) {
    const live = await tx.get(sql`select 1 as yes from streams where video_id = ${args.id}`)
    if (live !== undefined)
      return refuse('in_use', 'The stream of the video is live; change the title of the channel instead.')
  }
  const before = { title, description, view_count }
  const after = changed(before, args)
  await tx.run(
    sql`update videos set title = ${after.title}, description = ${after.description}, view_count = ${after.view_count}
        where id = ${args.id}`,
  )
  tx.record({ subject: videoSubject(args.id), before, after })
  return undefined
}
