/**
 * The files that embedded media servers record (D-261, D-263): one for each video and folder.
 *
 *     local --startUpload--> uploading --endUpload--> stored
 *
 * A row outlives its video, until its object is deleted. What a process was doing when it was killed is done again: an upload
 * starts over unless its object is whole.
 */
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { lockRows, sql } from '../sql/tag.ts'

interface FileId {
  readonly video_id: string
  readonly folder: string
}

const isFile = ({ video_id, folder }: FileId) => sql`video_id = ${video_id} and folder = ${folder}`

/** Locks a video, so that its files get different numbers. */
const lockVideo = (tx: Transaction, id: string) =>
  tx.get<{ id: string }>(sql`select id from videos where id = ${id}${lockRows}`)

/** Notes the file of a folder, and what its playlist lists. Nothing is noted of a deleted video. */
export async function noteRecordingFile(
  tx: Transaction,
  args: FileId & {
    /** The node that has the folder. */
    url: string
    /** A publisher has come. */
    isPublished: boolean
    playlist: string | null
    now: number
  },
): Promise<void> {
  if ((await lockVideo(tx, args.video_id)) === undefined) return
  const now = isoMillis(args.now)
  const changed = await tx.run(
    sql`update recording_files set url = ${args.url}, playlist = coalesce(${args.playlist}, playlist), changed_at = ${now},
          published_at = case when ${args.isPublished ? 1 : 0} = 1 then ${now} else published_at end
        where ${isFile(args)}`,
  )
  if (changed === 0)
    await tx.run(
      sql`insert into recording_files (video_id, part, folder, url, state, playlist, published_at, changed_at)
          select ${args.video_id}, coalesce(max(part), 0) + 1, ${args.folder}, ${args.url}, 'local', ${args.playlist},
            ${now}, ${now}
          from recording_files where video_id = ${args.video_id}`,
    )
  await tx.run(
    sql`update videos set recording_url = ${args.url} where id = ${args.video_id}
          and exists (select 1 from recording_files where ${isFile(args)} and part = 1)`,
  )
}

/** Returns the number of the file; undefined if its video was deleted. */
export async function startUpload(
  tx: Transaction,
  args: FileId & { url: string; playlist: string; now: number },
): Promise<number | undefined> {
  await noteRecordingFile(tx, { ...args, isPublished: false })
  await tx.run(
    sql`update recording_files set state = 'uploading', changed_at = ${isoMillis(args.now)}
        where ${isFile(args)} and state = 'local'`,
  )
  const file = await tx.get<{ part: number }>(
    sql`select part from recording_files where ${isFile(args)} and state <> 'local'`,
  )
  return file?.part
}

/** Returns whether the object is of use: its video exists. */
export async function endUpload(
  tx: Transaction,
  args: FileId & { playlist: string; now: number },
): Promise<boolean> {
  if ((await lockVideo(tx, args.video_id)) === undefined) return false
  const changed = await tx.run(
    sql`update recording_files set state = 'stored', playlist = ${args.playlist}, changed_at = ${isoMillis(args.now)}
        where ${isFile(args)}`,
  )
  return changed > 0
}

/** The object of a deleted video is deleted. */
export async function forgetRecordingFile(tx: Transaction, args: FileId): Promise<void> {
  await tx.run(
    sql`delete from recording_files where ${isFile(args)}
          and not exists (select 1 from videos where id = ${args.video_id})`,
  )
}
