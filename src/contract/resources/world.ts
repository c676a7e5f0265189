import type { Static } from 'typebox'
import { optional, orNull, resource, Type } from '../schema.ts'
import { CONTENT_LABELS } from './content-label.ts'
import { Name, ReturnedUuid, TimeMillis, WITHOUT_DIRECTION } from './id.ts'
import { listOf } from './list.ts'

/** The resources that operators manage: users, organizations, games, benefits, clients and channels. */

export const LOGIN_PATTERN = '^[a-zA-Z0-9_]{1,25}$'

export const BROADCASTER_TYPES = ['', 'affiliate', 'partner'] as const

/** What operators may set beside names, in requests, imports and scenarios. */
export const Description = Type.String({ maxLength: 300 })

export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$',
  hint: 'an email address',
  examples: ['otter@example.com'],
})

export const IgdbId = Type.String({
  pattern: '^(0|[1-9][0-9]{0,18})?$',
  hint: 'decimal digits, or empty',
  description: 'The id of the game at IGDB; empty: unknown.',
})

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
export const Tags = listOf(Type.String({ minLength: 1, maxLength: 25 }), 0, 10)

const Delay = Type.Integer({ minimum: 0, maximum: 900, description: 'Seconds.' })

const ContentLabels = listOf(Type.Enum(CONTENT_LABELS), 0, CONTENT_LABELS.length)

/** What operators may set of a channel, in requests and imports, beside title and game. */
export const channelSettings = optional({
  language: Language,
  tags: Tags,
  is_mature: Type.Boolean(),
  vod_enabled: Type.Boolean(),
  delay: Delay,
  content_classification_labels: ContentLabels,
  is_branded_content: Type.Boolean(),
})

/** Maximum editors of a channel (D-85). */
export const MAX_EDITORS = 1000

export const User = resource('User', 'A user, as the control API shows it.', {
  id: Type.String(),
  login: Type.String({ description: 'Lower case.' }),
  display_name: Type.String(),
  description: Type.String(),
  broadcaster_type: Type.Enum(BROADCASTER_TYPES),
  email: orNull(Type.String()),
  created_at: TimeMillis,
})
export type User = Static<typeof User>

export const Organization = resource('Organization', 'The owner of games, benefits and entitlements.', {
  id: ReturnedUuid,
  name: Name,
})
export type Organization = Static<typeof Organization>

export const Game = resource('Game', 'A game, as the control API shows it.', {
  id: Type.String(),
  name: Name,
  organization_id: orNull(ReturnedUuid),
  igdb_id: Type.String({ description: 'Empty if unknown.' }),
})
export type Game = Static<typeof Game>

export const Benefit = resource('Benefit', 'What an entitlement entitles to.', {
  id: ReturnedUuid,
  name: Name,
  organization_id: ReturnedUuid,
  game_id: orNull(Type.String()),
})
export type Benefit = Static<typeof Benefit>

export const CLIENT_KINDS = ['confidential', 'public'] as const

export const Client = resource('Client', 'An application that requests tokens.', {
  id: Type.String(),
  name: Name,
  organization_id: orNull(ReturnedUuid),
  owner_user_id: orNull(Type.String()),
  kind: Type.Enum(CLIENT_KINDS),
  redirect_uris: Type.Array(Type.String()),
  implicit_grant: Type.Boolean({ description: 'Whether the client may use `response_type=token`.' }),
  device_flow: Type.Boolean({
    description:
      'Whether the client may use the device flow. A confidential client has to send its secret to get the token.',
  }),
})
export type Client = Static<typeof Client>

/** Returned once, when the secret is created. A public client has no secret. */
export const ClientWithSecret = resource(
  'ClientWithSecret',
  'An application that requests tokens, with its secret. A public client has none.',
  { ...Client.properties, secret: Type.Optional(Type.String()) },
)

/** What happens if a second publisher comes while one is live. */
export const SECOND_PUBLISHER = ['refuse', 'take_over'] as const
export type SecondPublisher = (typeof SECOND_PUBLISHER)[number]

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

export const exampleUser: User = {
  id: '141981764',
  login: 'lunar_otter',
  display_name: 'Lunar_Otter',
  description: 'Night dives and slow games.',
  broadcaster_type: 'affiliate',
  email: 'otter@example.com',
  created_at: '2026-02-01T09:30:00.000Z',
}

export const exampleOrganization: Organization = {
  id: '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1',
  name: 'Reef Interactive',
}

export const exampleGame: Game = {
  id: '33214',
  name: 'Tidefall',
  organization_id: exampleOrganization.id,
  igdb_id: '90210',
}

export const exampleBenefit: Benefit = {
  id: '74c52265-e214-48a6-91b9-23b6014e8041',
  name: 'Coral lantern',
  organization_id: exampleOrganization.id,
  game_id: exampleGame.id,
}

export const exampleClient: Client = {
  id: 'reefdrops0fulfilment0backend01',
  name: 'Reef drops back end',
  organization_id: exampleOrganization.id,
  owner_user_id: null,
  kind: 'confidential',
  redirect_uris: ['http://localhost:3000/callback'],
  implicit_grant: false,
  device_flow: false,
}

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
