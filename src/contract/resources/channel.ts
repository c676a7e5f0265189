import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { exampleFollowerNames, nameFields, namesAs, TimeSeconds, userNames } from './id.ts'
import { exampleChannel, exampleGame, exampleUser } from './world.ts'

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
