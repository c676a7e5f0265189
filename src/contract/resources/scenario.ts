import type { Static, TProperties, TSchema } from 'typebox'
import { optional, Type } from '../schema.ts'
import {
  ACCOUNT_LINKS,
  DEFAULT_CLAIM_SECONDS,
  LINK_URL,
  MAX_BENEFITS,
  MAX_CLAIM_SECONDS,
  MAX_DROPS,
  MAX_REQUIRED_MINUTES,
} from './campaign.ts'
import { Language, Tags, Title } from './channel.ts'
import { CLIENT_KINDS } from './client.ts'
import { FulfillmentStatus, UPDATE_STATUSES } from './entitlement.ts'
import { Fault, MAX_FAULTS } from './fault.ts'
import { DecimalId, Name, Uuid, WITHOUT_DIRECTION } from './id.ts'
import { RedirectUris } from './redirect-uri.ts'
import { BROADCASTER_TYPES, Description, Email } from './user.ts'

/**
 * A scenario file: what a test needs in the demo world, from organizations to tokens, planned faults and later events. Each
 * named entry appears under its name in `world.scenario`.
 */
const strict = { additionalProperties: false }

const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,39}$'

/** An object that needs none of its fields. */
const entry = <Fields extends TProperties>(fields: Fields) => Type.Object(optional(fields), strict)

const named = <S extends TSchema>(what: S, description: string) =>
  Type.Record(Type.String(), what, {
    description,
    maxProperties: 10_000,
    propertyNames: { pattern: NAME_PATTERN },
  })

const PERSON =
  '`broadcaster`, `editor`, `offline` or `viewer` of the demo, or the name of a user of this scenario.'
const Person = Type.String({ description: PERSON })

const ORGANIZATION = '`organization` or `other_organization` of the demo, or the name of one of this scenario'
const Organization = Type.String({ description: `${ORGANIZATION} (default: \`organization\`).` })
const NoOrganization = Type.String({ description: `${ORGANIZATION} (default: none).` })
const Benefit = Type.String({
  description: '`benefit` of the demo (default), or the name of a benefit of this scenario.',
})
const Game = Type.String({
  description: 'The name of a game of this scenario or of the demo (default: that of the benefit).',
})

const SecondsAgo = Type.Integer({ minimum: 0, maximum: 31_536_000 })

const ScenarioStream = entry({
  id: DecimalId,
  viewer_count: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  title: Title,
  language: Language,
  tags: Tags,
  game: Type.String({
    description:
      'The name of a game of this scenario or of the demo (default: that of `world.game`); empty: no game.',
  }),
  started_seconds_ago: SecondsAgo,
})

const ScenarioFollow = Type.Object(
  { user: Person, followed_seconds_ago: SecondsAgo },
  { ...strict, description: 'A follow with its time; without one it is the start of the demo.' },
)

const ScenarioUser = entry({
  id: DecimalId,
  login: Type.String({ pattern: '^[a-z0-9_]{1,25}$', description: 'Default: the name in lower case.' }),
  display_name: Type.String({ minLength: 1, maxLength: 100, ...WITHOUT_DIRECTION }),
  description: Description,
  broadcaster_type: Type.Enum(BROADCASTER_TYPES),
  email: Email,
  stream: {
    ...ScenarioStream,
    description: 'The live stream; without it the user is offline.',
  },
  past_videos: Type.Integer({
    minimum: 0,
    maximum: 20,
    description: 'Number of videos of earlier streams (default: 0).',
  }),
  vod_enabled: Type.Boolean({
    description:
      'Whether streams are recorded as videos (default: true); false gives a live channel without videos.',
  }),
  follows: Type.Array(Type.Union([Person, ScenarioFollow]), { maxItems: 100 }),
  editors: Type.Array(Person, { maxItems: 100, description: 'Users that may edit the channel.' }),
})

const ScenarioEntitlement = entry({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  update_status: Type.Enum(UPDATE_STATUSES, {
    description:
      "Status that UpdateDropsEntitlements returns to the clients of the benefit's organization, and UNAUTHORIZED to `client` of the demo (default: SUCCESS). NOT_FOUND and INVALID_ID create an id without an entitlement.",
  }),
  times: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'With UPDATE_FAILED: number of failures (default: always).',
  }),
  user: Person,
  benefit: Benefit,
  game: Game,
  fulfillment_status: FulfillmentStatus,
  granted_seconds_ago: SecondsAgo,
})

const ScenarioOrganization = entry({ id: Uuid, name: Name })

const ScenarioGame = entry({
  id: DecimalId,
  name: { ...Name, description: 'Default: the name of the entry.' },
  organization: NoOrganization,
})

const ScenarioBenefit = entry({
  id: Uuid,
  name: { ...Name, description: 'Default: the name of the entry.' },
  organization: Organization,
  game: { ...Game, description: 'The name of a game of this scenario or of the demo.' },
})

const ScenarioClient = entry({
  id: Type.String({ pattern: '^[a-z0-9]{1,60}$', hint: 'lower-case letters and digits, at most 60' }),
  name: { ...Name, description: 'Default: the name of the entry.' },
  organization: NoOrganization,
  kind: Type.Enum(CLIENT_KINDS),
  redirect_uris: {
    ...RedirectUris,
    description: 'Default: `http://localhost:3000/callback`.',
  },
  implicit_grant: Type.Boolean(),
  device_flow: Type.Boolean({ description: 'Default: true.' }),
})

const ScenarioGrant = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: 100_000, description: 'Number of entitlements.' }),
    fulfilled: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'How many are FULFILLED (default: 0).' }),
    ),
    benefit: Type.Optional(Benefit),
    game: Type.Optional(Game),
    users: Type.Optional(
      Type.Array(Person, {
        minItems: 1,
        maxItems: 1000,
        description: 'Who gets them, in turn (default: `viewer`).',
      }),
    ),
    granted_seconds_ago: Type.Optional({
      ...SecondsAgo,
      description: 'Age of the oldest; each later one is granted a millisecond after (default: 3600).',
    }),
  },
  strict,
)

const ScenarioDrop = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: Type.Optional({ ...Name, description: 'Default: such as `30 minutes`.' }),
    required_minutes: Type.Integer({ minimum: 1, maximum: MAX_REQUIRED_MINUTES }),
    benefits: Type.Optional(
      Type.Array(Benefit, {
        minItems: 1,
        maxItems: MAX_BENEFITS,
        description: 'Default: `benefit` of the demo.',
      }),
    ),
  },
  strict,
)

const ScenarioCampaign = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: Type.Optional({ ...Name, description: 'Default: the name of the entry.' }),
    organization: Type.Optional(Organization),
    game: Type.Optional(
      Type.String({
        description: 'The name of a game of this scenario or of the demo (default: that of `world.game`).',
      }),
    ),
    starts_seconds_ago: Type.Optional(
      Type.Integer({
        minimum: -31_536_000,
        maximum: 31_536_000,
        description: 'Negative: it starts later (default: 3600).',
      }),
    ),
    lasts_seconds: Type.Optional(
      Type.Integer({ minimum: 60, maximum: 31_622_400, description: 'Default: 604800, a week.' }),
    ),
    claim_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_CLAIM_SECONDS,
        description: `How long drops can be claimed after the end (default: ${DEFAULT_CLAIM_SECONDS}).`,
      }),
    ),
    channels: Type.Optional(
      Type.Array(Person, {
        minItems: 1,
        maxItems: 1000,
        description: 'The channels that count, while they play the game (default: all that play it).',
      }),
    ),
    account_link: Type.Optional(Type.Enum(ACCOUNT_LINKS, { description: 'Default: `after_claim`.' })),
    link_client: Type.Optional(
      Type.String({
        description:
          'The client that viewers authorize: `client` or `other_client` of the demo, or the name of one of this scenario.',
      }),
    ),
    link_url: Type.Optional(Type.String(LINK_URL)),
    auto_claim: Type.Optional(Type.Boolean()),
    drops: Type.Array(ScenarioDrop, { minItems: 1, maxItems: MAX_DROPS }),
  },
  strict,
)

const ScenarioWatching = Type.Object(
  {
    user: { ...Person, description: `Who watches: ${PERSON}` },
    channel: { ...Person, description: `The broadcaster: ${PERSON}` },
    for_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31_536_000,
        description: 'How long, from the start of the demo, by its clock (default: until stopped).',
      }),
    ),
  },
  strict,
)

const ScenarioToken = entry({
  kind: Type.Enum(['user', 'app']),
  state: Type.Enum(['good', 'expired', 'revoked']),
  user: Person,
  scopes: Type.Array(Type.String({ pattern: '^[a-z_]+(:[a-z_]+)*$', maxLength: 100 }), {
    maxItems: 50,
    description: 'Default: all scopes that have an effect.',
  }),
  client: Type.String({
    description:
      '`client` (default) or `other_client` of the demo, or the name of a client of this scenario.',
  }),
  expires_in: Type.Integer({ minimum: 1, maximum: 315_360_000 }),
})

const EVENTS = [
  'stream.online',
  'stream.offline',
  'channel.update',
  'channel.follow',
  'drop.entitlement.grant',
] as const

const ScenarioEvent = Type.Object(
  {
    type: Type.Enum(EVENTS),
    user: { ...Person, description: `The broadcaster, or who gets the entitlement: ${PERSON}` },
    after_seconds: Type.Integer({
      minimum: 0,
      maximum: 31_536_000,
      description: 'Time since the start or the last reset, by the clock of the demo.',
    }),
    by: Type.Optional({
      ...Person,
      description: 'With `channel.follow`: the user who follows (default: `viewer`).',
    }),
    title: Type.Optional({ ...Title, description: 'With `channel.update`: the new title.' }),
  },
  strict,
)
export type ScenarioEvent = Static<typeof ScenarioEvent>

export const Scenario = entry({
  $schema: Type.String(),
  description: Type.String(),
  organizations: named(ScenarioOrganization, 'Organizations, which own games, benefits and clients.'),
  games: named(ScenarioGame, 'Games.'),
  benefits: named(ScenarioBenefit, 'Benefits that entitlements grant.'),
  clients: named(ScenarioClient, 'Clients, each with an app token.'),
  users: named(ScenarioUser, 'Users with channels.'),
  entitlements: named(ScenarioEntitlement, 'Entitlements, and ids without an entitlement.'),
  grants: named(ScenarioGrant, 'Entitlements in large numbers; 200,000 in all.'),
  campaigns: named(ScenarioCampaign, 'Drops that viewers earn by watching; they are published.'),
  watching: Type.Array(ScenarioWatching, {
    maxItems: 1000,
    description: 'Simulated viewers, each with a heartbeat every 30 s; a user watches one channel.',
  }),
  tokens: named(ScenarioToken, 'Tokens: valid, expired or revoked.'),
  faults: Type.Array(Fault, { maxItems: MAX_FAULTS, description: 'Faults planned at the start.' }),
  events: Type.Array(ScenarioEvent, {
    maxItems: 1000,
    description: 'Changes that happen later. Subscribers get the event of each.',
  }),
})
export type Scenario = Static<typeof Scenario>
