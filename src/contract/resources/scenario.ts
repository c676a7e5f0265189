import type { Static } from 'typebox'
import { FAULT_OUTCOMES } from '../control/demo.ts'
import { Type } from '../schema.ts'
import { FulfillmentStatus, UPDATE_STATUSES } from './entitlement.ts'
import { DecimalId } from './id.ts'

/**
 * What a test wants to find in the world of the demo, as a file: people, entitlements, tokens and failures, each put there
 * on purpose. Whatever has a name here is found under that name in `world.scenario`.
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

const Person = Type.String({
  description: 'broadcaster, editor, offline or viewer of the demo, or the name of a user of this scenario.',
})

const SecondsAgo = Type.Integer({ minimum: 0, maximum: 31_536_000 })

const ScenarioStream = Type.Object(
  {
    id: Type.Optional(DecimalId),
    viewer_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
    title: Type.Optional(Type.String({ maxLength: 140 })),
    language: Type.Optional(Type.String({ pattern: '^[a-z]{2}$' })),
    started_seconds_ago: Type.Optional(SecondsAgo),
  },
  strict,
)

const ScenarioUser = Type.Object(
  {
    id: Type.Optional(DecimalId),
    login: Type.Optional(
      Type.String({ pattern: '^[a-z0-9_]{1,25}$', description: 'The name in lower case if left out.' }),
    ),
    display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    stream: Type.Optional({ ...ScenarioStream, description: 'Live with this; offline if left out.' }),
    past_videos: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 20, description: 'Videos of earlier streams; none if left out.' }),
    ),
    vod_enabled: Type.Optional(
      Type.Boolean({ description: 'Whether streams leave videos; false makes a live channel without any.' }),
    ),
    follows: Type.Optional(Type.Array(Person, { maxItems: 100 })),
  },
  strict,
)

const ScenarioEntitlement = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    update_status: Type.Optional(
      Type.Enum(UPDATE_STATUSES, {
        description:
          "What UpdateDropsEntitlements says of it when the demo's client asks; SUCCESS if left out. NOT_FOUND and INVALID_ID make an id and no entitlement.",
      }),
    ),
    times: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'With UPDATE_FAILED: how often; always if left out.',
      }),
    ),
    user: Type.Optional(Person),
    fulfillment_status: Type.Optional(FulfillmentStatus),
    granted_seconds_ago: Type.Optional(SecondsAgo),
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
        description: 'Every scope that opens something if left out.',
      }),
    ),
    client: Type.Optional(Type.Enum(['client', 'other_client'])),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
  },
  strict,
)

const ScenarioFault = Type.Object(
  {
    operation: Type.String({ description: 'The name of an operation, such as GetStreams.' }),
    outcome: Type.Enum(FAULT_OUTCOMES),
    entitlement: Type.Optional(
      Type.String({ description: 'With update_failed: the name of an entitlement of this scenario.' }),
    ),
    milliseconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  },
  strict,
)

export const Scenario = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    users: named(ScenarioUser, 'People with channels of their own.'),
    entitlements: named(ScenarioEntitlement, 'Entitlements, and ids that look like some.'),
    tokens: named(ScenarioToken, 'Tokens that are good, or not any more.'),
    faults: Type.Optional(
      Type.Array(ScenarioFault, { maxItems: 1000, description: 'Planned from the start.' }),
    ),
  },
  strict,
)
export type Scenario = Static<typeof Scenario>
