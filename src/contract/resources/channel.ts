import type { Static } from 'typebox'
import { optional, resource, Type } from '../schema.ts'
import { CONTENT_LABELS } from './content-label.ts'
import { exampleGame } from './game.ts'
import { exampleFollowerNames, nameFields, namesAs, TimeSeconds, userNames, WITHOUT_DIRECTION } from './id.ts'
import { listSchema } from './list.ts'
import { exampleUser } from './user.ts'

export const Title = Type.String({
  maxLength: 140,
  description: 'At most 140 characters.',
  ...WITHOUT_DIRECTION,
})

export const Language = Type.String({
  pattern: '^([a-z]{2}|other)$',
  hint: 'an ISO 639-1 code, or "other"',
})

/** `domain/tags.ts` has the rule for the characters (D-80). */
export const Tags = listSchema(Type.String({ minLength: 1, maxLength: 25 }), 0, 10)

const Delay = Type.Integer({ minimum: 0, maximum: 900, description: 'Seconds.' })

const ContentLabels = listSchema(Type.Enum(CONTENT_LABELS), 0, CONTENT_LABELS.length)

/** What happens if a second publisher comes while one is live. */
export const SECOND_PUBLISHER = ['refuse', 'take_over'] as const
export type SecondPublisher = (typeof SECOND_PUBLISHER)[number]

/** What operators may set of a channel, in requests and imports, beside title and game. */
export const channelSettings = optional({
  language: Language,
  tags: Tags,
  is_mature: Type.Boolean(),
  vod_enabled: Type.Boolean(),
  delay: Delay,
  content_classification_labels: ContentLabels,
  is_branded_content: Type.Boolean(),
  second_publisher: Type.Enum(SECOND_PUBLISHER, {
    description: 'What happens if a second publisher comes while one is live.',
  }),
})

/** Maximum editors of a channel (D-85). */
export const MAX_EDITORS = 1000

export const Channel = resource('Channel', 'A channel, as the control API shows it.', {
  user_id: Type.String(),
  title: Type.String(),
  game_id: Type.String(),
  language: Type.String(),
  tags: Type.Array(Type.String()),
  is_mature: Type.Boolean(),
  vod_enabled: Type.Boolean(),
  delay: Type.Integer({ minimum: 0, description: 'Seconds.' }),
  content_classification_labels: Type.Array(Type.String()),
  is_branded_content: Type.Boolean(),
  second_publisher: Type.Enum(SECOND_PUBLISHER),
})
export type Channel = Static<typeof Channel>

export const exampleChannel: Channel = {
  user_id: exampleUser.id,
  title: 'First light over the reef',
  game_id: exampleGame.id,
  language: 'en',
  tags: ['Relaxed'],
  is_mature: false,
  vod_enabled: true,
  delay: 0,
  content_classification_labels: ['Gambling'],
  is_branded_content: false,
  second_publisher: 'refuse',
}

/** Channels, follows and editors as clients see them; never null (D-65). */

export const ChannelInformation = resource('ChannelInformation', 'A channel, as clients see it.', {
  ...nameFields('broadcaster'),
  broadcaster_language: Type.String({ description: 'ISO 639-1 code, or `other`.' }),
  game_id: Type.String({ description: 'Empty if no game is set.' }),
  game_name: Type.String(),
  title: Type.String(),
  delay: Type.Integer({
    minimum: 0,
    description: 'Seconds; 0 unless the user of the token is the broadcaster.',
  }),
  tags: Type.Array(Type.String()),
  content_classification_labels: Type.Array(Type.String(), {
    description: 'Contains `MatureGame` if the channel is set to mature.',
  }),
  is_branded_content: Type.Boolean(),
})
export type ChannelInformation = Static<typeof ChannelInformation>

export const FollowedChannel = resource('FollowedChannel', 'A channel that a user follows.', {
  ...nameFields('broadcaster'),
  followed_at: TimeSeconds,
})
export type FollowedChannel = Static<typeof FollowedChannel>

export const ChannelFollower = resource('ChannelFollower', 'A user who follows a channel.', {
  ...userNames,
  followed_at: TimeSeconds,
})
export type ChannelFollower = Static<typeof ChannelFollower>

export const ChannelEditor = resource('ChannelEditor', 'A user who may edit a channel.', {
  user_id: Type.String(),
  user_name: Type.String(),
  created_at: TimeSeconds,
})
export type ChannelEditor = Static<typeof ChannelEditor>

const broadcaster = namesAs('broadcaster', exampleUser)

export const exampleChannelInformation: ChannelInformation = {
  ...broadcaster,
  broadcaster_language: exampleChannel.language,
  game_id: exampleGame.id,
  game_name: exampleGame.name,
  title: exampleChannel.title,
  delay: exampleChannel.delay,
  tags: exampleChannel.tags,
  content_classification_labels: exampleChannel.content_classification_labels,
  is_branded_content: exampleChannel.is_branded_content,
}

export const exampleFollowedChannel: FollowedChannel = {
  ...broadcaster,
  followed_at: '2026-02-14T18:00:05Z',
}

export const exampleFollower: ChannelFollower = {
  ...exampleFollowerNames,
  followed_at: '2026-02-14T18:00:05Z',
}

export const exampleEditor: ChannelEditor = {
  user_id: '25009227',
  user_name: 'Quiet_Heron',
  created_at: '2026-02-20T08:15:00Z',
}
