import { refuse } from '../../contract/problem.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { refuseSuspended } from '../commands/refuse-suspended.ts'
import { insertVideo, updateRunningVideo } from '../commands/streams.ts'
import type { Transaction } from '../database.ts'
import { orderBy } from '../keyset-order.ts'
import { liveStreams } from '../queries/streams.ts'
import { isOneOf, lockRows, sql, type TableRow, verbatim } from '../sql/tag.ts'
import {
  asGiven,
  type Check,
  type CommandLines,
  fixedFields,
  type ImportLine,
  idClaim,
  oneByOne,
  type RowLines,
} from './line-type.ts'
import { storedRows } from './stored-rows.ts'
import { writeRows } from './write-rows.ts'

const videos = storedRows('video', { table: 'videos' })

export const video: RowLines<'video'> = {
  ...videos,
  writes: 'rows',
  checks: [fixedFields(['user_id'], 'belongs to another user')],
  // The second claim lets the check of a stream find the owner of its video.
  claims: ({ id, user_id }) => [
    idClaim('video', id),
    { ...idClaim('video', id), what: ['video', id, user_id] },
  ],
  put: writeRows(videos, { fixed: ['user_id'], defaults: asInChannel }),
}

/** The present title, language and game of the channel. */
async function asInChannel(tx: Transaction, lines: readonly ImportLine<'video'>[]) {
  const users = [...new Set(lines.map(line => line.user_id))]
  const rows = await tx.all<TableRow>(
    sql`select user_id, title, language, game_id from channels where ${isOneOf(sql`user_id`, users)}`,
  )
  const channels = new Map(rows.map(row => [row.user_id, row]))
  const others = { title: '', language: 'en', description: '', view_count: 0 }
  return ({ user_id }: ImportLine<'video'>): TableRow => ({ ...others, ...channels.get(user_id) })
}

/** A channel has one stream, a stream one channel, and the stream's video belongs to that channel. */
const streamIsFree: Check<'stream'> = async (db, lines, earlier) => {
  const ownersIn = async (table: 'streams' | 'videos', ids: readonly string[]) => {
    const rows = await db.all<{ id: string; user_id: string }>(
      sql`select id, user_id from ${verbatim(table)} where ${isOneOf(sql`id`, ids)}`,
    )
    return new Map(rows.map(row => [row.id, row.user_id]))
  }
  const ofStream = await ownersIn(
    'streams',
    lines.map(line => line.id),
  )
  const ofVideo = await ownersIn(
    'videos',
    lines.flatMap(line => line.video_id ?? line.id),
  )
  const suspended = new Set(
    (
      await db.all<{ id: string }>(
        sql`select id from users where suspended_at is not null and ${isOneOf(
          sql`id`,
          lines.map(line => line.user_id),
        )}`,
      )
    ).map(row => row.id),
  )
  return ({ id, user_id, video_id = id }, row) => {
    if (suspended.has(user_id)) return `the user "${user_id}" is suspended`
    if ((row?.id ?? id) !== id) return `the channel of the user "${user_id}" is live with another stream`
    if ((ofStream.get(id) ?? user_id) !== user_id) return `the stream "${id}" belongs to another user`
    if (video_id === null || earlier?.has('video', video_id, user_id)) return undefined
    const owner = ofVideo.get(video_id)
    const isOfAnother = owner === undefined ? earlier?.has('video', video_id) : owner !== user_id
    return isOfAnother ? `the video "${video_id}" belongs to another user` : undefined
  }
}

export const stream: CommandLines<'stream'> = {
  ...storedRows('stream', { table: 'streams', key: ['user_id'] }),
  writes: 'commands',
  checks: [streamIsFree],
  claims: ({ id, user_id }) => [
    {
      what: ['stream of', user_id],
      why: () => `the channel of the user "${user_id}" has another stream in this file`,
    },
    idClaim('stream', id),
  ],
  asStored: asGiven,
  /** Starts the stream and publishes it. Locks the channel first, as every command that changes a stream does. */
  put: oneByOne(async (tx, { line }) => {
    const { id, user_id, started_at } = line
    const channel = await tx.get<{ vod_enabled: number }>(
      sql`select vod_enabled from channels where user_id = ${user_id}${lockRows}`,
    )
    const suspended = await refuseSuspended(tx, [user_id])
    if (suspended !== undefined) return suspended
    const before = await tx.get<{ id: string; video_id: string | null; viewer_count: number }>(
      sql`select id, video_id, viewer_count from streams where user_id = ${user_id}${lockRows}`,
    )
    if (before !== undefined && before.id !== id)
      return refuse('in_use', 'the channel is live with another stream')
    const viewer_count = line.viewer_count ?? before?.viewer_count ?? 0
    let video_id = line.video_id === undefined ? before?.video_id : line.video_id
    if (video_id === undefined) video_id = channel?.vod_enabled === 1 ? await ownVideo(tx, line) : null
    await tx.run(
      sql`insert into streams (user_id, id, video_id, started_at, viewer_count)
          values (${user_id}, ${id}, ${video_id}, ${started_at}, ${viewer_count})
          on conflict (user_id) do update set video_id = excluded.video_id, started_at = excluded.started_at,
            viewer_count = excluded.viewer_count`,
    )
    await updateRunningVideo(tx, user_id)
    const [live] = await liveStreams(tx, sql`s.user_id = ${user_id}`)
    if (live !== undefined) {
      const was = before?.viewer_count ?? null
      tx.publish({ kind: 'stream', stream: live, was, was_game_id: live.game_id })
    }
    return undefined
  }),
}

/** A stream without `video_id` gets a video with the same id, so that repeated imports reuse it. */
async function ownVideo(
  tx: Transaction,
  { id, user_id, started_at }: TransferLine<'stream'>,
): Promise<string> {
  const known = await tx.get(sql`select id from videos where id = ${id}`)
  if (known === undefined) await insertVideo(tx, { id, user_id, stream_id: id, created_at: started_at })
  return id
}

const markers = storedRows('marker', {
  table: 'video_markers',
  order: orderBy('video_id', 'position_seconds', 'id'),
})

export const marker: RowLines<'marker'> = {
  ...markers,
  writes: 'rows',
  checks: [fixedFields(['video_id'], 'belongs to another video')],
  put: writeRows(markers, { fixed: ['video_id'], defaults: async () => () => ({ description: '' }) }),
}
