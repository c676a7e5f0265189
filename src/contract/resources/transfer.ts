import type { Static, TObject, TProperties, TSchema } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import {
  ACCOUNT_LINKS,
  CAMPAIGN_STATES,
  CHANNEL_RULES,
  CLAIM_SOURCES,
  LINK_URL,
  MAX_BENEFITS,
  MAX_CHANNELS,
  MAX_CLAIM_SECONDS,
  MAX_DROPS,
  MAX_REQUIRED_MINUTES,
} from './campaign.ts'
import { channelSettings, Language, Title } from './channel.ts'
import { CLIENT_KINDS } from './client.ts'
import { FulfillmentStatus } from './entitlement.ts'
import { exampleGame, IgdbId } from './game.ts'
import { DecimalId, GivenTime, Name, Uuid } from './id.ts'
import { exampleOrganization } from './organization.ts'
import { RedirectUris } from './redirect-uri.ts'
import { ExtraKeyName } from './stream.ts'
import { Description, exampleUser, LOGIN_PATTERN, SuspensionReason, userSettings } from './user.ts'

/**
 * The lines of an export and an import: one JSON object each, with a `type`. The parser, the order and fields of an
 * export, the checks of references and the documentation are derived from these declarations.
 *
 * `refersTo` names the type that the value is an id of; that resource comes earlier in the file or is in the store. `kept`
 * is the form in which a value is stored. Only `strand export --with-secrets` writes `secret` fields.
 */
const Id = { ...DecimalId, kept: 'as given' }
const OrganizationId = { ...Uuid, kept: 'lower case' }
const to = (refersTo: string, id: typeof DecimalId | typeof Uuid) => Type.String({ ...id, refersTo })
const OfUser = to('user', Id)
const OfGame = to('game', Id)
const OfOrganization = to('organization', OrganizationId)
const OfVideo = to('video', Id)

const Moment = Type.String({ ...GivenTime, kept: 'milliseconds' })
const Second = Type.String({ ...GivenTime, kept: 'seconds' })
/** Inside of lists, where nothing is converted. */
const LowerCaseUuid = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  hint: 'a UUID in lower case',
})

const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  hint: 'a SHA-256 in 64 lower-case hex digits',
  secret: true,
})

const SecretKey = Type.String({
  pattern: '^live_[0-9]{1,19}_[A-Za-z0-9]{30}$',
  hint: 'a stream key in the form live_<user id>_<30 letters and digits>',
  secret: true,
})

const line = <T extends string, P extends TProperties>(type: T, fields: P) =>
  resource(`${toTitle(type)}Line`, `A line of an import or export: ${type.replace('_', ' ')}.`, {
    type: Type.Literal(type),
    ...fields,
  })

/** `stream_key`: `StreamKey`. */
const toTitle = (type: string) => type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** In the order of an export: referenced types come first. */
export const transferLines = {
  organization: line('organization', {
    id: Type.String(OrganizationId),
    name: Name,
  }),
  user: line('user', {
    id: Type.String(Id),
    login: Type.String({
      pattern: LOGIN_PATTERN,
      hint: '1 to 25 letters, digits or underscores',
      kept: 'lower case',
    }),
    ...userSettings,
    created_at: Type.Optional(Moment),
    suspended_at: Type.Optional(orNull(Moment)),
    suspension_reason: Type.Optional(SuspensionReason),
    password: Type.Optional(
      Type.String({ minLength: 8, maxLength: 200, description: 'Accepted in imports, never exported.' }),
    ),
    password_hash: Type.Optional(
      Type.String({
        pattern: '^\\$argon2(id|i|d)\\$[!-~]{20,500}$',
        hint: 'an Argon2 hash in the form $argon2id$..., with parameters within the limits that docs/transfer.md lists',
        secret: true,
      }),
    ),
    stream_key: Type.Optional(SecretKey),
  }),
  member: line('member', { organization_id: OfOrganization, user_id: OfUser }),
  game: line('game', {
    id: Type.String(Id),
    name: Name,
    organization_id: Type.Optional(orNull(OfOrganization)),
    igdb_id: Type.Optional(IgdbId),
  }),
  benefit: line('benefit', {
    id: Type.String(OrganizationId),
    name: Name,
    organization_id: OfOrganization,
    game_id: Type.Optional(orNull(OfGame)),
  }),
  client: line('client', {
    id: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      hint: '1 to 64 letters, digits, hyphens or underscores',
    }),
    name: Name,
    organization_id: Type.Optional(orNull(OfOrganization)),
    owner_user_id: Type.Optional(orNull(OfUser)),
    kind: Type.Optional(Type.Enum(CLIENT_KINDS)),
    redirect_uris: Type.Optional(RedirectUris),
    implicit_grant: Type.Optional(Type.Boolean()),
    device_flow: Type.Optional(
      Type.Boolean({ description: 'Default: true for public clients, false for confidential ones.' }),
    ),
    counts_watching: Type.Optional(Type.Boolean()),
    secret_hash: Type.Optional(Sha256),
  }),
  channel: line('channel', {
    user_id: OfUser,
    title: Type.Optional(Title),
    game_id: Type.Optional(Type.Union([OfGame, Type.Literal('')], { description: 'Empty string: no game.' })),
    ...channelSettings,
  }),
  stream_key: line('stream_key', {
    user_id: OfUser,
    name: ExtraKeyName,
    created_at: Type.Optional(Moment),
    valid_until: Type.Optional(orNull(Moment)),
    stream_key: Type.Optional(SecretKey),
  }),
  editor: line('editor', { user_id: OfUser, editor_id: OfUser, created_at: Type.Optional(Second) }),
  follow: line('follow', { user_id: OfUser, broadcaster_id: OfUser, followed_at: Type.Optional(Second) }),
  video: line('video', {
    id: Type.String(Id),
    user_id: OfUser,
    created_at: Second,
    ended_at: Type.Optional(orNull(Second)),
    stream_id: Type.Optional(orNull(Type.String(Id))),
    title: Type.Optional(Title),
    description: Type.Optional(Description),
    language: Type.Optional(Language),
    game_id: Type.Optional(orNull(OfGame)),
    view_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_000_000_000 })),
  }),
  stream: line('stream', {
    id: Type.String(Id),
    user_id: OfUser,
    video_id: Type.Optional(orNull(OfVideo)),
    started_at: Second,
    viewer_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_000_000_000 })),
  }),
  marker: line('marker', {
    id: Type.String({ pattern: '^[0-9a-f]{32}$', hint: '32 lower-case hex digits' }),
    video_id: OfVideo,
    position_seconds: Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
    description: Type.Optional(Type.String({ maxLength: 140 })),
    created_at: Second,
  }),
  campaign: line('campaign', {
    id: Type.String(OrganizationId),
    name: Name,
    organization_id: OfOrganization,
    game_id: OfGame,
    state: Type.Enum(CAMPAIGN_STATES),
    starts_at: Moment,
    ends_at: Moment,
    stopped_at: Type.Optional(orNull(Moment)),
    claim_seconds: Type.Integer({ minimum: 0, maximum: MAX_CLAIM_SECONDS }),
    channels: Type.Enum(CHANNEL_RULES),
    account_link: Type.Enum(ACCOUNT_LINKS),
    link_client_id: Type.Optional(orNull(Type.String({ maxLength: 64, refersTo: 'client' }))),
    link_url: Type.Optional(orNull(Type.String(LINK_URL))),
    auto_claim: Type.Boolean(),
    drops: Type.Array(
      Type.Object({
        id: LowerCaseUuid,
        name: Name,
        required_minutes: Type.Integer({ minimum: 1, maximum: MAX_REQUIRED_MINUTES }),
        benefit_ids: Type.Array(LowerCaseUuid, { minItems: 1, maxItems: MAX_BENEFITS }),
      }),
      { maxItems: MAX_DROPS },
    ),
    channel_ids: Type.Optional(Type.Array(DecimalId, { maxItems: MAX_CHANNELS })),
  }),
  entitlement: line('entitlement', {
    id: Type.String(OrganizationId),
    user_id: OfUser,
    benefit_id: to('benefit', OrganizationId),
    game_id: OfGame,
    timestamp: Moment,
    fulfillment_status: Type.Optional(FulfillmentStatus),
    last_updated: Type.Optional(Moment),
    campaign_id: Type.Optional(to('campaign', OrganizationId)),
    user_deleted: Type.Optional(
      Type.Boolean({ description: 'The user was deleted, so `user_id` is not checked.' }),
    ),
  }),
  drop_progress: line('drop_progress', {
    campaign_id: to('campaign', OrganizationId),
    user_id: OfUser,
    minutes: Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
  }),
  drop_claim: line('drop_claim', {
    user_id: OfUser,
    drop_id: Type.String(OrganizationId),
    benefit_id: to('benefit', OrganizationId),
    entitlement_id: Type.String(OrganizationId),
    claimed_at: Moment,
    source: Type.Enum(CLAIM_SOURCES),
  }),
} as const satisfies Record<string, TObject>

export type TransferType = keyof typeof transferLines
export type TransferLine<T extends TransferType = TransferType> = {
  [Each in TransferType]: Static<(typeof transferLines)[Each]>
}[T]

export const TRANSFER_TYPES = Object.keys(transferLines) as readonly TransferType[]

/** The fields of a line in the order of its declaration. */
export function listFields(type: TransferType): Readonly<Record<string, TSchema>> {
  return transferLines[type].properties
}

/** The annotation of a field; for a nullable field, that of the other variant. */
export function findNote(schema: TSchema, note: 'refersTo' | 'kept' | 'secret'): string | undefined {
  const { anyOf } = schema as { anyOf?: readonly TSchema[] }
  const kinds = [schema, ...(anyOf ?? [])] as unknown as readonly Record<string, unknown>[]
  return kinds.find(kind => kind[note] !== undefined)?.[note] as string | undefined
}

/** The fields of a type that refer to another type, with that type. */
export function listReferences(
  type: TransferType,
): readonly (readonly [field: string, kind: TransferType])[] {
  return Object.entries(listFields(type)).flatMap(([field, schema]) => {
    const kind = findNote(schema, 'refersTo')
    return kind === undefined ? [] : [[field, kind as TransferType] as const]
  })
}

export const exampleLines: readonly TransferLine[] = [
  { type: 'organization', ...exampleOrganization },
  { type: 'user', ...exampleUser },
  { type: 'game', ...exampleGame },
]
