import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { FulfillmentStatus, UPDATE_STATUSES } from './entitlement.ts'
import { Fault, MAX_FAULTS } from './fault.ts'
import { DecimalId, Name, Uuid } from './id.ts'
import { RedirectUris } from './redirect-uri.ts'
import { BROADCASTER_TYPES, CLIENT_KINDS, Description, Email, Language, Tags, Title } from './world.ts'

/**
 * A scenario file: what a test needs in the demo world, from organizations to tokens, planned faults and later events. Each
 * named entry appears under its name in `world.scenario`.
 */
const strict = { additionalProperties: false }

const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,39}$'

const named = <S extends Parameters<typeof Type.Record>[1]>(what: S, description: string) =>
  Type.Optional(
    Type.Record(Type.String(), what, {
      description,
      maxProperties: 10_000,
      propertyNames: { pattern: NAME_PATTERN },
    }),
  )

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

const ScenarioStream = Type.Object(
  {
    id: Type.Optional(DecimalId),
    viewer_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
    title: Type.Optional(Title),
    language: Type.Optional(Language),
    tags: Type.Optional(Tags),
    game: Type.Optional(
      Type.String({
        description:
          'The name of a game of this scenario or of the demo (default: that of `world.game`); empty: no game.',
      }),
    ),
    started_seconds_ago: Type.Optional(SecondsAgo),
  },
  strict,
)

const ScenarioFollow = Type.Object(
  { user: Person, followed_seconds_ago: SecondsAgo },
  { ...strict, description: 'A follow with its time; without one it is the start of the demo.' },
)

const ScenarioUser = Type.Object(
  {
    id: Type.Optional(DecimalId),
    login: Type.Optional(
      Type.String({ pattern: '^[a-z0-9_]{1,25}$', description: 'Default: the name in lower case.' }),
    ),
    display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    description: Type.Optional(Description),
    broadcaster_type: Type.Optional(Type.Enum(BROADCASTER_TYPES)),
    email: Type.Optional(Email),
    stream: Type.Optional({
      ...ScenarioStream,
      description: 'The live stream; without it the user is offline.',
    }),
    past_videos: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 20,
        description: 'Number of videos of earlier streams (default: 0).',
      }),
    ),
    vod_enabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether streams are recorded as videos (default: true); false gives a live channel without videos.',
      }),
    ),
    follows: Type.Optional(Type.Array(Type.Union([Person, ScenarioFollow]), { maxItems: 100 })),
    editors: Type.Optional(
      Type.Array(Person, { maxItems: 100, description: 'Users that may edit the channel.' }),
    ),
  },
  strict,
)

const ScenarioEntitlement = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    update_status: Type.Optional(
      Type.Enum(UPDATE_STATUSES, {
        description:
          "Status that UpdateDropsEntitlements returns to the clients of the benefit's organization, and UNAUTHORIZED to `client` of the demo (default: SUCCESS). NOT_FOUND and INVALID_ID create an id without an entitlement.",
      }),
    ),
    times: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'With UPDATE_FAILED: number of failures (default: always).',
      }),
    ),
    user: Type.Optional(Person),
    benefit: Type.Optional(Benefit),
    game: Type.Optional(Game),
    fulfillment_status: Type.Optional(FulfillmentStatus),
    granted_seconds_ago: Type.Optional(SecondsAgo),
  },
  strict,
)

const ScenarioOrganization = Type.Object({ id: Type.Optional(Uuid), name: Type.Optional(Name) }, strict)

const ScenarioGame = Type.Object(
  {
    id: Type.Optional(DecimalId),
    name: Type.Optional({ ...Name, description: 'Default: the name of the entry.' }),
    organization: Type.Optional(NoOrganization),
  },
  strict,
)

const ScenarioBenefit = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: Type.Optional({ ...Name, description: 'Default: the name of the entry.' }),
    organization: Type.Optional(Organization),
    game: Type.Optional({ ...Game, description: 'The name of a game of this scenario or of the demo.' }),
  },
  strict,
)

const ScenarioClient = Type.Object(
  {
    id: Type.Optional(
      Type.String({ pattern: '^[a-z0-9]{1,60}$', hint: 'lower-case letters and digits, at most 60' }),
    ),
    name: Type.Optional({ ...Name, description: 'Default: the name of the entry.' }),
    organization: Type.Optional(NoOrganization),
    kind: Type.Optional(Type.Enum(CLIENT_KINDS)),
    redirect_uris: Type.Optional({
      ...RedirectUris,
      description: 'Default: `http://localhost:3000/callback`.',
    }),
    implicit_grant: Type.Optional(Type.Boolean()),
    device_flow: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
  },
  strict,
)

const ScenarioCampaign = Type.Object(
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

const ScenarioToken = Type.Object(
  {
    kind: Type.Optional(Type.Enum(['user', 'app'])),
    state: Type.Optional(Type.Enum(['good', 'expired', 'revoked'])),
    user: Type.Optional(Person),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z_]+(:[a-z_]+)*$', maxLength: 100 }), {
        maxItems: 50,
        description: 'Default: all scopes that have an effect.',
      }),
    ),
    client: Type.Optional(
      Type.String({
        description:
          '`client` (default) or `other_client` of the demo, or the name of a client of this scenario.',
      }),
    ),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
  },
  strict,
)

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

export const Scenario = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    organizations: named(ScenarioOrganization, 'Organizations, which own games, benefits and clients.'),
    games: named(ScenarioGame, 'Games.'),
    benefits: named(ScenarioBenefit, 'Benefits that entitlements grant.'),
    clients: named(ScenarioClient, 'Clients, each with an app token.'),
    users: named(ScenarioUser, 'Users with channels.'),
    entitlements: named(ScenarioEntitlement, 'Entitlements, and ids without an entitlement.'),
    campaigns: named(ScenarioCampaign, 'Entitlements in large numbers; 200,000 in all.'),
    tokens: named(ScenarioToken, 'Tokens: valid, expired or revoked.'),
    faults: Type.Optional(
      Type.Array(Fault, { maxItems: MAX_FAULTS, description: 'Faults planned at the start.' }),
    ),
    events: Type.Optional(
      Type.Array(ScenarioEvent, {
        maxItems: 1000,
        description: 'Changes that happen later. Subscribers get the event of each.',
      }),
    ),
  },
  strict,
)
export type Scenario = Static<typeof Scenario>
