import { formatThousands } from '../../contract/format-thousands.ts'
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import { type Channel, MAX_EDITORS } from '../../contract/resources/channel.ts'
import { isChange } from '../../domain/audit.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { type ChannelUpdate, updateChannel } from '../../domain/channel-update.ts'
import { inLabelOrder } from '../../domain/content-labels.ts'
import { checkTags } from '../../domain/tags.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { channelColumns, channelQueries } from '../queries/channels.ts'
import { userQueries } from '../queries/users.ts'
import { sql } from '../sql/tag.ts'
import { emitChannelUpdate } from './channel-events.ts'
import { endSubscriptionsOfEditor } from './end-subscriptions.ts'
import { refuseUnknown } from './references.ts'
import { insertVideo, publishStreams, updateRunningVideo } from './streams.ts'

export async function changeChannel(
  tx: Transaction,
  args: Changes<Channel> & {
    readonly user_id: string
    /** Used if videos are switched on during a running stream. */
    readonly video_id: string
  },
): Promise<Channel | Refusal<'not_found' | 'unknown_reference' | 'malformed_parameter'>> {
  await tx.lock(sql`select user_id from channels where user_id = ${args.user_id}`, 'channels')
  const before = await channelQueries(tx).find(args.user_id)
  if (before === undefined) return refuse('not_found', 'channel', args.user_id)
  const unknown = await refuseUnknown(tx, { game: [args.game_id || null] })
  if (unknown !== undefined) return unknown
  const tags = checkTags(args.tags ?? before.tags)
  if (isRefusal(tags)) return tags
  const channel: Channel = {
    ...changed(before, args),
    tags: [...tags],
    content_classification_labels: inLabelOrder(
      args.content_classification_labels ?? before.content_classification_labels,
    ),
  }
  if (channel.vod_enabled && !before.vod_enabled) await keepVideoFromNowOn(tx, args.user_id, args.video_id)
  await writeChannel(tx, before, channel)
  return channel
}

/** A change by the broadcaster. */
export async function modifyChannel(
  tx: Transaction,
  { user_id, update }: { user_id: string; update: ChannelUpdate },
) {
  await tx.lock(sql`select user_id from channels where user_id = ${user_id}`, 'channels')
  const before = await channelQueries(tx).find(user_id)
  const user = await userQueries(tx).find(user_id)
  if (before === undefined || user === undefined) return refuse('not_found', 'channel', user_id)
  const unknown = await refuseUnknown(tx, { game: [update.game_id || null] })
  if (unknown !== undefined) return refuse('invalid_game_id')
  const channel = updateChannel(before, user, update)
  if (isRefusal(channel)) return channel
  await writeChannel(tx, before, channel)
  return undefined
}

/** A running stream and its video show the change (D-82, D-92). If nothing changes, nothing is written or published. */
async function writeChannel(tx: Transaction, before: Channel, channel: Channel): Promise<void> {
  const recording = { subject: `channel/${channel.user_id}`, before, after: channel }
  if (!isChange(recording)) return
  await channelColumns.update(tx, channel)
  await updateRunningVideo(tx, channel.user_id)
  await publishStreams(tx, sql`s.user_id = ${channel.user_id}`, before.game_id)
  tx.record(recording)
  await emitChannelUpdate(tx, before, channel)
}

async function keepVideoFromNowOn(tx: Transaction, user_id: string, video_id: string): Promise<void> {
  const running = await tx.get<{ id: string; started_at: string }>(
    sql`select id, started_at from streams where user_id = ${user_id} and video_id is null`,
  )
  if (running === undefined) return
  await insertVideo(tx, { id: video_id, user_id, stream_id: running.id, created_at: running.started_at })
  await tx.run(sql`update streams set video_id = ${video_id} where user_id = ${user_id}`)
}

const TOO_MANY_EDITORS = `The channel has ${formatThousands(MAX_EDITORS)} editors already`

/** Adds an editor to a channel. For an existing editor, only the time is changed, if one is given. */
export async function putEditor(
  tx: Transaction,
  args: { user_id: string; editor_id: string; created_at?: string | undefined; now: number },
) {
  const { user_id, editor_id } = args
  // So that no two additions at once exceed the maximum.
  await tx.lock(sql`select user_id from channels where user_id = ${user_id}`, 'channels')
  const unknown = await refuseUnknown(tx, { user: [user_id, editor_id] }, 'not_found')
  if (unknown !== undefined) return unknown
  const full = await tx.get(
    sql`select count(*) as editors from editors where user_id = ${user_id}
        having count(*) >= ${MAX_EDITORS} and count(case when editor_id = ${editor_id} then 1 end) = 0`,
  )
  if (full !== undefined) return refuse('in_use', `${TOO_MANY_EDITORS}; remove one first.`)
  const created_at = args.created_at ?? isoSeconds(args.now)
  const changed = await tx.run(
    sql`insert into editors (user_id, editor_id, created_at) values (${user_id}, ${editor_id}, ${created_at})
        on conflict (user_id, editor_id) do update set created_at = excluded.created_at
        where ${args.created_at !== undefined} = 1 and editors.created_at <> excluded.created_at`,
  )
  if (changed > 0) tx.record({ subject: editorSubject(args), after: { user_id, editor_id, created_at } })
  return undefined
}

export async function deleteEditor(tx: Transaction, args: { user_id: string; editor_id: string }) {
  const gone = await tx.run(
    sql`delete from editors where user_id = ${args.user_id} and editor_id = ${args.editor_id}`,
  )
  if (gone === 0) return refuse('not_found', 'editor', args.editor_id)
  await endSubscriptionsOfEditor(tx, args)
  tx.record({ subject: editorSubject(args), before: args })
  return undefined
}

const editorSubject = (editor: { user_id: string; editor_id: string }): string =>
  `channel/${editor.user_id}/editor/${editor.editor_id}`
