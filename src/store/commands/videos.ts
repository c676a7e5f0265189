import { refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** Deletes a video with its markers. If its stream is running, that goes on without one. */
export async function deleteVideo(tx: Transaction, args: { id: string }) {
  // Whoever ends the stream holds it first and then the video: so does this.
  await tx.lock(sql`select user_id from streams where video_id = ${args.id}`, 'streams')
  const before = await tx.get<{ user_id: string; created_at: string; ended_at: string | null }>(
    sql`delete from videos where id = ${args.id} returning user_id, created_at, ended_at`,
  )
  if (before === undefined) return refuse('not_found', 'video', args.id)
  tx.record({ subject: `video/${args.id}`, before })
  return undefined
}
