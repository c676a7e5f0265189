import { refuse } from '../../contract/problem.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { insertVideo, updateRunningVideo } from '../commands/streams.ts'
import type { Transaction } from '../database.ts'
import { liveStreams } from '../queries/streams.ts'
import { isOneOf, lockRows, sql } from '../sql/tag.ts'
import { type Change, claimOf, putRows, type TransferResource } from './resource.ts'

export const video: TransferResource<'video'> = {
  table: 'videos',
  fixed: { fields: ['user_id'], why: 'belongs to another user' },
  // The second claim lets the check of a stream find the owner of its video.
  claims: line => [
    claimOf('video', line.id),
    { ...claimOf('video', line.id), what: ['video', line.id, line.user_id] },
  ],
  putAll: async (tx, changes) => {
    const channels = await channelsOf(tx, changes)
    await putRows(tx, 'videos', changes, change => videoRow(change, channels), ['id', 'user_id'])
  },
}

type ChannelText = Record<'title' | 'language', string> & { readonly game_id: string | null }

async function channelsOf(
  tx: Transaction,
  changes: readonly Change<'video'>[],
): Promise<ReadonlyMap<string, ChannelText>> {
  const users = [...new Set(changes.map(({ line }) => line.user_id))]
  const rows = await tx.all<ChannelText & { user_id: string }>(
    sql`select user_id, title, language, game_id from channels where ${isOneOf(sql`user_id`, users)}`,
  )
  return new Map(rows.map(row => [row.user_id, row]))
}

/** Omitted fields keep their value; a new video gets the present title, language and game of the channel. */
function videoRow({ line, row }: Change<'video'>, channels: ReadonlyMap<string, ChannelText>) {
  const { title = '', language = 'en', game_id = null } = channels.get(line.user_id) ?? {}
  const { type: _, ...known } = {
    ...{ ended_at: null, stream_id: null, title, language, game_id, description: '', view_count: 0 },
    ...row,
    ...line,
  }
  return known
}

export const stream: TransferResource<'stream'> = {
  table: 'streams',
  key: ['user_id'],
  /** A channel has one stream, a stream one channel, and the stream's video belongs to that channel. */
  conflicts: async (db, lines, earlier) => {
    const [ids, users] = [lines.map(line => line.id), lines.map(line => line.user_id)]
    const videos = lines.map(line => line.video_id ?? line.id)
    const running = await db.all<{ id: string; user_id: string }>(
      sql`select id, user_id from streams where ${isOneOf(sql`user_id`, users)} or ${isOneOf(sql`id`, ids)}`,
    )
    const owned = await db.all<{ id: string; user_id: string }>(
      sql`select id, user_id from videos where ${isOneOf(sql`id`, videos)}`,
    )
    const ofUser = new Map(running.map(row => [row.user_id, row.id]))
    const ofStream = new Map(running.map(row => [row.id, row.user_id]))
    const ofVideo = new Map(owned.map(row => [row.id, row.user_id]))
    return ({ id, user_id, video_id = id }) => {
      if ((ofUser.get(user_id) ?? id) !== id)
        return `the channel of the user "${user_id}" is live with another stream`
      if ((ofStream.get(id) ?? user_id) !== user_id) return `the stream "${id}" belongs to another user`
      if (video_id === null || earlier?.has('video', video_id, user_id)) return undefined
      const owner = ofVideo.get(video_id)
      const isOfAnother = owner === undefined ? earlier?.has('video', video_id) : owner !== user_id
      return isOfAnother ? `the video "${video_id}" belongs to another user` : undefined
    }
  },
  claims: line => [
    {
      what: ['stream of', line.user_id],
      why: () => `the channel of the user "${line.user_id}" has another stream in this file`,
    },
    claimOf('stream', line.id),
  ],
  /** Starts the stream and publishes it. Locks the channel first, as every command that changes a stream does. */
  putEach: async (tx, { line }) => {
    const { id, user_id, started_at } = line
    const channel = await tx.get<{ vod_enabled: number }>(
      sql`select vod_enabled from channels where user_id = ${user_id}${lockRows}`,
    )
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
    if (live !== undefined)
      tx.publish({
        kind: 'stream',
        stream: live,
        was: before?.viewer_count ?? null,
        was_game_id: live.game_id,
      })
    return undefined
  },
}

/** A stream without `video_id` gets a video with the same id, so that repeated imports reuse it. */
async function ownVideo(tx: Transaction, line: TransferLine<'stream'>): Promise<string> {
  const known = await tx.get(sql`select id from videos where id = ${line.id}`)
  if (known === undefined)
    await insertVideo(tx, {
      id: line.id,
      user_id: line.user_id,
      stream_id: line.id,
      created_at: line.started_at,
    })
  return line.id
}

export const marker: TransferResource<'marker'> = {
  table: 'video_markers',
  order: ['video_id', 'position_seconds', 'id'],
  fixed: { fields: ['video_id'], why: 'belongs to another video' },
  defaults: { description: '' },
}
