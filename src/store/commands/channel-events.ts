/** The events about channels and users. Names are read only if a subscription wants them. */
import { eventTypeNamed } from '../../contract/events/event-types.ts'
import type { Channel } from '../../contract/resources/channel.ts'
import { namesAs } from '../../contract/resources/id.ts'
import type { User } from '../../contract/resources/user.ts'
import { shownLabels } from '../../domain/content-labels.ts'
import { eventTopic } from '../../domain/events/event-subscription.ts'
import type { Lookup } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { channelQueries } from '../queries/channels.ts'
import { sql } from '../sql/tag.ts'
import { emit } from './emit.ts'

interface Named {
  readonly id: string
  readonly login: string
  readonly display_name: string
}

export async function findNames(tx: Transaction, ids: readonly string[]): Promise<Map<string, Named>> {
  const rows = await tx.lookUp(namesOfUsers, [...new Set(ids)])
  return new Map(rows.map(row => [row.id, row]))
}

const namesOfUsers: Lookup<Named> = {
  column: 'id',
  select: sql`select id, login, display_name from users`,
  by: sql`id`,
}

const broadcasterNames = (user: Named) => namesAs('broadcaster_user', user)

export async function emitOnline(
  tx: Transaction,
  stream: { id: string; user_id: string; user_login: string; user_name: string; started_at: string },
): Promise<void> {
  const { id, user_id, user_login, user_name, started_at } = stream
  const broadcaster = broadcasterNames({ id: user_id, login: user_login, display_name: user_name })
  await emit(tx, 'stream.online', [user_id], async () => [
    { subject: user_id, event: { id, ...broadcaster, type: 'live', started_at } },
  ])
}

export async function emitOffline(tx: Transaction, user_id: string): Promise<void> {
  await emit(tx, 'stream.offline', [user_id], async () => {
    const names = await findNames(tx, [user_id])
    return [...names.values()].map(user => ({ subject: user_id, event: broadcasterNames(user) }))
  })
}

/** Emits `channel.update` if a field that the event carries has changed. */
export async function emitChannelUpdate(tx: Transaction, before: Channel, channel: Channel): Promise<void> {
  const { user_id, title, language, game_id } = channel
  const isSame =
    title === before.title &&
    language === before.language &&
    game_id === before.game_id &&
    shownLabels(channel).join() === shownLabels(before).join()
  if (!isSame) await emitChannels(tx, [user_id])
}

/** The channels of a game that have a subscription to their changes. */
export async function findWatchedChannels(tx: Transaction, game_id: string): Promise<string[]> {
  const topics = eventTopic(eventTypeNamed('channel.update'), '')
  const rows = await tx.all<{ user_id: string }>(
    sql`select distinct c.user_id from channels c
          join event_subscriptions s on s.topic = cast(${topics} as text) || c.user_id and s.ended_at is null
        where c.game_id = ${game_id}`,
  )
  return rows.map(row => row.user_id)
}

/** `channel.update` with what these channels are now. */
export async function emitChannels(tx: Transaction, user_ids: readonly string[]): Promise<void> {
  await emit(tx, 'channel.update', user_ids, async () => {
    const channels = await channelQueries(tx).described(user_ids)
    return channels.map(({ user_id, user_login, user_name, game_id, game_name, ...channel }) => ({
      subject: user_id,
      event: {
        ...broadcasterNames({ id: user_id, login: user_login, display_name: user_name }),
        title: channel.title,
        language: channel.language,
        category_id: game_id,
        category_name: game_name,
        content_classification_labels: shownLabels(channel),
      },
    }))
  })
}

export async function emitFollows(
  tx: Transaction,
  follows: readonly { user_id: string; broadcaster_id: string; followed_at: string }[],
): Promise<void> {
  const subjects = follows.map(follow => follow.broadcaster_id)
  await emit(tx, 'channel.follow', subjects, async () => {
    const names = await findNames(tx, [...subjects, ...follows.map(follow => follow.user_id)])
    return follows.flatMap(({ user_id, broadcaster_id, followed_at }) => {
      const [user, broadcaster] = [names.get(user_id), names.get(broadcaster_id)]
      if (user === undefined || broadcaster === undefined) return []
      const event = { ...namesAs('user', user), ...broadcasterNames(broadcaster), followed_at }
      return [{ subject: broadcaster_id, event }]
    })
  })
}

export async function emitUserUpdate(tx: Transaction, before: User, user: User): Promise<void> {
  const { id, login, display_name, description, email } = user
  const isSame =
    login === before.login &&
    display_name === before.display_name &&
    description === before.description &&
    email === before.email
  if (isSame) return
  await emit(tx, 'user.update', [id], async () => [
    {
      subject: id,
      event: {
        ...namesAs('user', user),
        email: email ?? '',
        email_verified: email !== null,
        description,
      },
    },
  ])
}

export async function emitMarker(
  tx: Transaction,
  marker: { id: string; created_at: string; description: string; position_seconds: number },
  of: { video_id: string; broadcaster_id: string; creator_id: string },
): Promise<void> {
  const { video_id, broadcaster_id, creator_id } = of
  await emit(tx, 'strand.marker.create', [broadcaster_id], async () => {
    const names = await findNames(tx, [broadcaster_id, creator_id])
    const [broadcaster, creator] = [names.get(broadcaster_id), names.get(creator_id)]
    if (broadcaster === undefined || creator === undefined) return []
    const by = namesAs('creator_user', creator)
    return [
      { subject: broadcaster_id, event: { ...marker, video_id, ...broadcasterNames(broadcaster), ...by } },
    ]
  })
}
