import { type Refusal, refuse } from '../../contract/problem.ts'
import { MAX_REPORTED_CHANNELS, MAX_VIEWERS } from '../../contract/resources/stream.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import type { Lookup, RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import type { LiveStream } from '../feed.ts'
import { liveStreamOf, liveStreams, readLive, refuseNotLive } from '../queries/streams.ts'
import { isOneOf, lockRows, type Sql, sql, type TableRow, valuesTable } from '../sql/tag.ts'
import { emitOffline, emitOnline } from './channel-events.ts'
import { disconnectPublisher } from './disconnect-publisher.ts'
import { suspendedUsers } from './refuse-suspended.ts'

/**
 * Publishes the current state of these live streams, and returns them. Their rows are locked first: otherwise a stream could
 * end or get another viewer count between the read and the commit, and the feed would contradict the store. `wasGame` is
 * their former game, if that has changed.
 */
export async function publishStreams(tx: Transaction, where: Sql, wasGame?: string): Promise<LiveStream[]> {
  await tx.lock(
    sql`select s.user_id from streams s join channels c on c.user_id = s.user_id where ${where} order by s.user_id`,
    's',
  )
  const streams = await liveStreams(tx, where)
  for (const stream of streams)
    tx.publish({
      kind: 'stream',
      stream,
      was: stream.viewer_count,
      was_game_id: wasGame ?? stream.game_id,
    })
  return streams
}

const channelToStart: Lookup<{ readonly user_id: string; readonly vod_enabled: number }> = {
  column: 'user_id',
  select: sql`select user_id, vod_enabled from channels`,
  by: sql`user_id`,
  locks: true,
}

interface RunningStream {
  readonly user_id: string
  readonly id: string
  readonly video_id: string | null
  readonly started_at: string
  readonly viewer_count: number
}

const runningStream: Lookup<RunningStream> = {
  column: 'user_id',
  select: sql`select user_id, id, video_id, started_at, viewer_count from streams`,
  by: sql`user_id`,
  locks: true,
}

/** Starts a stream, with a new video unless the channel keeps none. If the channel is live, returns the running stream. */
export async function startStream(
  tx: Transaction,
  args: {
    user_id: string
    stream_id: string
    video_id: string
    started_at: string
    viewer_count?: number | undefined
  },
): Promise<LiveStream | Refusal<'not_found' | 'user_suspended'>> {
  const { user_id, started_at } = args
  const [channel] = await tx.lookUp(channelToStart, [user_id])
  if (channel === undefined) return refuse('not_found', 'channel', user_id)
  // Read after the channel is locked: a suspension that committed before is seen.
  const [[suspended], [running]] = await Promise.all([
    tx.lookUp(suspendedUsers, [user_id]),
    tx.lookUp(runningStream, [user_id]),
  ])
  if (suspended !== undefined) return refuse('user_suspended', suspended.login)
  if (running === undefined) {
    const video_id = channel.vod_enabled === 1 ? args.video_id : null
    const viewer_count = args.viewer_count ?? 0
    await Promise.all([
      video_id &&
        insertVideo(tx, { id: video_id, user_id, stream_id: args.stream_id, created_at: started_at }),
      tx.write(newStream, { user_id, id: args.stream_id, video_id, started_at, viewer_count }),
    ])
  } else {
    // One whose publisher is gone would end soon.
    const viewer_count = args.viewer_count ?? running.viewer_count
    await tx.run(
      sql`update streams set stopped_at = null, viewer_count = ${viewer_count} where user_id = ${user_id}`,
    )
  }
  const [stream] = (await tx.lookUp(liveStreamOf, [user_id])).map(readLive)
  if (stream === undefined) throw new Error('the stream was just written')
  tx.publish({
    kind: 'stream',
    stream,
    was: running?.viewer_count ?? null,
    was_game_id: stream.game_id,
  })
  const after = { id: stream.id, started_at: stream.started_at, viewer_count: stream.viewer_count }
  const before = running === undefined ? null : { ...after, viewer_count: running.viewer_count }
  tx.record({ subject: streamSubject(user_id), before, after })
  if (running === undefined) await emitOnline(tx, stream)
  return stream
}

const newStream: RowWrite<RunningStream & TableRow> = rows =>
  sql`insert into streams (user_id, id, video_id, started_at, viewer_count)
      select user_id, id, video_id, started_at, cast(viewer_count as integer)
      from ${valuesTable(rows, ['user_id', 'id', 'video_id', 'started_at', 'viewer_count'])} as news`

const streamSubject = (user_id: string): string => `channel/${user_id}/stream`

/** Ends the running stream, and disconnects its publisher; its video stays. */
export async function endStream(tx: Transaction, args: { user_id: string; now: number }) {
  const ended = await endRunningStream(tx, args)
  if (ended === undefined) return refuseNotLive(tx, args.user_id)
  await disconnectPublisher(tx, args)
  const { user_id: _, video_id: __, ...before } = ended
  tx.record({ subject: streamSubject(args.user_id), before })
  return undefined
}

/** Ends and returns the running stream, if there is one. */
export async function endRunningStream(
  tx: Transaction,
  { user_id, now }: { user_id: string; now: number },
): Promise<RunningStream | undefined> {
  const [running] = await tx.lookUp(runningStream, [user_id])
  if (running === undefined) return undefined
  const at = isoSeconds(now)
  // Never before the start, even if the clock was set back.
  const ended_at = at < running.started_at ? running.started_at : at
  const [[channel]] = await Promise.all([
    // Read after the row of the stream is locked: a change of the game that committed before is seen.
    tx.lookUp(gameOfChannel, [user_id]),
    running.video_id && tx.write(endedVideo, { user_id, ended_at }),
    tx.write(goneStream, user_id),
  ])
  tx.publish({
    kind: 'end',
    user_id,
    stream_id: running.id,
    game_id: channel?.game_id ?? '',
    viewer_count: running.viewer_count,
  })
  await emitOffline(tx, user_id)
  return running
}

/** The last title, language and game of the channel stay (D-92). */
const endedVideo: RowWrite<{ readonly user_id: string; readonly ended_at: string } & TableRow> = rows =>
  sql`update videos set ${asOfChannel}, ended_at = ended.ended_at
      from ${valuesTable(rows, ['user_id', 'ended_at'])} as ended
      join channels c on c.user_id = ended.user_id join streams s on s.user_id = c.user_id
      where videos.id = s.video_id`

const goneStream: RowWrite<string> = user_ids =>
  sql`delete from streams where ${isOneOf(sql`user_id`, user_ids)}`

const gameOfChannel: Lookup<{ readonly user_id: string; readonly game_id: string | null }> = {
  column: 'user_id',
  select: sql`select user_id, game_id from channels`,
  by: sql`user_id`,
}

/** Sets viewer counts; skips channels that are not live. */
export async function reportViewers(
  tx: Transaction,
  args: { counts: readonly (readonly [user_id: string, viewers: number])[] },
): Promise<number> {
  const given = new Map(args.counts)
  const live = await tx.all<{ user_id: string; id: string; viewer_count: number }>(
    sql`select user_id, id, viewer_count from streams where ${isOneOf(sql`user_id`, [...given.keys()])}
        order by user_id${lockRows}`,
  )
  const changed = live.filter(row => given.get(row.user_id) !== row.viewer_count)
  if (changed.length === 0) return 0
  const rows = changed.map(({ user_id }) => ({
    user_id,
    viewer_count: assertDefined(given.get(user_id), 'a viewer count'),
  }))
  await tx.run(
    sql`update streams set viewer_count = cast(report.viewer_count as integer)
        from ${valuesTable(rows, ['user_id', 'viewer_count'])} as report
        where streams.user_id = report.user_id`,
  )
  tx.publish({
    kind: 'viewers',
    stream_ids: changed.map(row => row.id),
    viewers: rows.map(row => row.viewer_count),
    was: changed.map(row => row.viewer_count),
  })
  tx.record({ subject: 'viewers', after: { channels: changed.length } })
  return changed.length
}

/**
 * `reportViewers` for the text of a report: parses it in this thread, so the one that serves requests is not blocked. False:
 * the text is not plainly a report, and the declaration has to decide. The validator is no part of the writer thread.
 */
export async function reportViewersFromJson(tx: Transaction, args: { text: string }): Promise<boolean> {
  const counts = readPlainCounts(args.text)
  if (counts === undefined) return false
  await reportViewers(tx, { counts })
  return true
}

function readPlainCounts(text: string): readonly (readonly [user_id: string, viewers: number])[] | undefined {
  // Only an escape can bring in what is not text.
  if (text.includes('\\u')) return undefined
  let report: { readonly counts?: unknown } | null
  try {
    report = JSON.parse(text)
  } catch {
    return undefined
  }
  const counts = report?.counts
  if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) return undefined
  const entries: [string, number][] = Object.entries(counts)
  const isPlain = entries.every(([, each]) => Number.isInteger(each) && each >= 0 && each <= MAX_VIEWERS)
  return isPlain && entries.length <= MAX_REPORTED_CHANNELS ? entries : undefined
}

interface NewVideo extends TableRow {
  readonly id: string
  readonly user_id: string
  readonly stream_id: string
  readonly created_at: string
}

const newVideo: RowWrite<NewVideo> = rows =>
  sql`insert into videos (id, user_id, stream_id, created_at, title, language, game_id)
      select v.id, c.user_id, v.stream_id, v.created_at, c.title, c.language, c.game_id
      from ${valuesTable(rows, ['id', 'user_id', 'stream_id', 'created_at'])} as v
      join channels c on c.user_id = v.user_id`

/** A video shows the title, language and game of the channel until its stream ends (D-92). */
export async function insertVideo(tx: Transaction, video: NewVideo): Promise<void> {
  await tx.write(newVideo, video)
}

/** An import may have left out the id of the stream. */
const asOfChannel = sql`title = c.title, language = c.language, game_id = c.game_id,
          stream_id = coalesce(videos.stream_id, s.id)`

/** Copies the title, language and game of a channel to the video of its running stream. */
export async function updateRunningVideo(tx: Transaction, user_id: string): Promise<void> {
  // A stream is locked before its video, here as in all commands.
  await tx.lock(sql`select user_id from streams where user_id = ${user_id}`, 'streams')
  await tx.run(
    sql`update videos set ${asOfChannel}
        from channels c join streams s on s.user_id = c.user_id
        where c.user_id = ${user_id} and videos.id = s.video_id`,
  )
}
