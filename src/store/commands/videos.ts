import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** Deletes a video and its markers. A running stream continues without a video. */
export async function deleteVideo(tx: Transaction, args: { id: string }) {
  // Ending a stream locks the stream before the video: use the same order here.
  await tx.lock(sql`select user_id from streams where video_id = ${args.id}`, 'streams')
  const before = await tx.get<{ user_id: string; created_at: string; ended_at: string | null }>(
    sql`delete from videos where id = ${args.id} returning user_id, created_at, ended_at`,
  )
  if (before === undefined) return refuse('not_found', 'video', args.id)
  tx.record({ subject: `video/${args.id}`, before })
  return undefined
}
