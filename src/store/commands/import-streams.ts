import type { TransferLine } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { liveStreams } from '../queries/streams.ts'
import { isOneOf, lockRows, sql, tableOf } from '../sql/tag.ts'
import type { Fate } from './import.ts'
import { insertVideo } from './streams.ts'

interface VideoRow {
  readonly [column: string]: string | null
  readonly id: string
  readonly user_id: string
  readonly created_at: string
  readonly ended_at: string | null
}

export async function importVideos(
  tx: Transaction,
  lines: readonly TransferLine<'video'>[],
): Promise<Fate[]> {
  const found = await tx.all<VideoRow>(
    sql`select id, user_id, created_at, ended_at from videos where ${isOneOf(
      sql`id`,
      lines.map(line => line.id),
    )} order by id${lockRows}`,
  )
  const known = new Map(found.map(row => [row.id, row]))
  const fresh: VideoRow[] = []
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = known.get(line.id)
    const row = { ...line, ended_at: line.ended_at ?? null }
    const isSame = before?.created_at === row.created_at && before.ended_at === row.ended_at
    fates.push(before === undefined ? 'created' : isSame ? 'unchanged' : 'changed')
    if (before === undefined) fresh.push(row)
    else if (!isSame) {
      await tx.run(
        sql`update videos set created_at = ${row.created_at}, ended_at = ${row.ended_at} where id = ${row.id}`,
      )
    }
  }
  if (fresh.length > 0) {
    await tx.run(
      sql`insert into videos (id, user_id, created_at, ended_at) select id, user_id, created_at, ended_at
          from ${tableOf(fresh, ['id', 'user_id', 'created_at', 'ended_at'])} as given`,
    )
  }
  return fates
}

interface MarkerRow {
  readonly [column: string]: string | number
  readonly id: string
  readonly video_id: string
  readonly position_seconds: number
  readonly description: string
  readonly created_at: string
}

export async function importMarkers(
  tx: Transaction,
  lines: readonly TransferLine<'marker'>[],
): Promise<Fate[]> {
  const found = await tx.all<MarkerRow>(
    sql`select id, video_id, position_seconds, description, created_at from markers where ${isOneOf(
      sql`id`,
      lines.map(line => line.id),
    )} order by id${lockRows}`,
  )
  const known = new Map(found.map(row => [row.id, row]))
  const fresh: MarkerRow[] = []
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = known.get(line.id)
    const row = { ...line, description: line.description ?? before?.description ?? '' }
    const isSame =
      before?.position_seconds === row.position_seconds &&
      before.description === row.description &&
      before.created_at === row.created_at
    fates.push(before === undefined ? 'created' : isSame ? 'unchanged' : 'changed')
    if (before === undefined) fresh.push(row)
    else if (!isSame) {
      await tx.run(
        sql`update markers set position_seconds = ${row.position_seconds}, description = ${row.description},
              created_at = ${row.created_at} where id = ${row.id}`,
      )
    }
  }
  if (fresh.length > 0) {
    await tx.run(
      sql`insert into markers (id, video_id, position_seconds, description, created_at)
          select id, video_id, cast(position_seconds as integer), description, created_at
          from ${tableOf(fresh, ['id', 'video_id', 'position_seconds', 'description', 'created_at'])} as given`,
    )
  }
  return fates
}

interface RunningRow {
  readonly video_id: string | null
  readonly started_at: string
  readonly viewer_count: number
}

/** Goes live with the stream of the file, for all who follow the feed to see. */
export async function importStreams(
  tx: Transaction,
  lines: readonly TransferLine<'stream'>[],
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const line of lines) fates.push(await importStream(tx, line))
  return fates
}

async function importStream(tx: Transaction, line: TransferLine<'stream'>): Promise<Fate> {
  const { user_id } = line
  const channel = await tx.get<{ vod_enabled: number }>(
    sql`select vod_enabled from channels where user_id = ${user_id}${lockRows}`,
  )
  const before = await tx.get<RunningRow>(
    sql`select video_id, started_at, viewer_count from streams where user_id = ${user_id}${lockRows}`,
  )
  const viewer_count = line.viewer_count ?? before?.viewer_count ?? 0
  const video_id =
    line.video_id !== undefined
      ? line.video_id
      : before !== undefined
        ? before.video_id
        : await ownVideo(tx, line, channel?.vod_enabled === 1)
  if (before === undefined) {
    await tx.run(
      sql`insert into streams (user_id, id, video_id, started_at, viewer_count)
          values (${user_id}, ${line.id}, ${video_id}, ${line.started_at}, ${viewer_count})`,
    )
  } else {
    const isSame =
      before.viewer_count === viewer_count &&
      before.started_at === line.started_at &&
      before.video_id === video_id
    if (isSame) return 'unchanged'
    await tx.run(
      sql`update streams set video_id = ${video_id}, started_at = ${line.started_at}, viewer_count = ${viewer_count}
          where user_id = ${user_id}`,
    )
  }
  const [stream] = await liveStreams(tx, sql`s.user_id = ${user_id}`)
  if (stream !== undefined) tx.publish({ kind: 'stream', stream, was: before?.viewer_count ?? null })
  return before === undefined ? 'created' : 'changed'
}

/** A stream that names no video gets one with its own id, where the channel keeps videos: the same however often it is read. */
async function ownVideo(
  tx: Transaction,
  { id, user_id, started_at }: TransferLine<'stream'>,
  keepsVideos: boolean,
): Promise<string | null> {
  if (!keepsVideos) return null
  const known = await tx.get(sql`select id from videos where id = ${id}`)
  if (known === undefined) await insertVideo(tx, id, user_id, started_at)
  return id
}
