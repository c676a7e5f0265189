import type { Static } from 'typebox'
import { exampleChannel, exampleChannelInformation } from '../resources/channel.ts'
import { exampleClient } from '../resources/client.ts'
import { exampleEntitlement, FulfillmentStatus } from '../resources/entitlement.ts'
import { exampleGame } from '../resources/game.ts'
import {
  exampleFollowerNames,
  exampleNames,
  nameFields,
  namesAs,
  TimeMillis,
  TimeSeconds,
  userNames,
} from '../resources/id.ts'
import { exampleMarker, StreamMarker } from '../resources/marker.ts'
import { exampleOrganization } from '../resources/organization.ts'
import { exampleUser } from '../resources/user.ts'
import { Type } from '../schema.ts'
import { defineEventType, type EventType } from './event-type.ts'

const broadcaster = nameFields('broadcaster_user')
const exampleBroadcaster = namesAs('broadcaster_user', exampleUser)

const ofBroadcaster = {
  condition: Type.Object({ broadcaster_user_id: Type.String() }),
  subject: 'broadcaster_user_id',
  transports: ['webhook', 'websocket'],
} as const

const streamOnline = defineEventType({
  type: 'stream.online',
  version: '1',
  summary: 'A channel went live.',
  ...ofBroadcaster,
  access: { kind: 'anyone' },
  event: Type.Object({
    id: Type.String({ description: 'The id of the stream.' }),
    ...broadcaster,
    type: Type.Literal('live'),
    started_at: TimeSeconds,
  }),
  example: { id: '40952121085', ...exampleBroadcaster, type: 'live', started_at: '2026-03-01T12:00:00Z' },
})

const streamOffline = defineEventType({
  type: 'stream.offline',
  version: '1',
  summary: 'A stream ended.',
  ...ofBroadcaster,
  access: { kind: 'anyone' },
  event: Type.Object(broadcaster),
  example: exampleBroadcaster,
})

const channelUpdate = defineEventType({
  type: 'channel.update',
  version: '2',
  summary: 'The title, language, category or content labels of a channel changed.',
  ...ofBroadcaster,
  access: { kind: 'anyone' },
  event: Type.Object({
    ...broadcaster,
    title: Type.String(),
    language: Type.String(),
    category_id: Type.String({ description: 'Empty if no game is set.' }),
    category_name: Type.String(),
    content_classification_labels: Type.Array(Type.String()),
  }),
  example: {
    ...exampleBroadcaster,
    title: exampleChannel.title,
    language: exampleChannel.language,
    category_id: exampleGame.id,
    category_name: exampleGame.name,
    content_classification_labels: exampleChannelInformation.content_classification_labels,
  },
})

const channelFollow = defineEventType({
  type: 'channel.follow',
  version: '2',
  summary: 'A user followed a channel.',
  ...ofBroadcaster,
  condition: Type.Object({ broadcaster_user_id: Type.String(), moderator_user_id: Type.String() }),
  access: { kind: 'editor', scope: 'moderator:read:followers', as: 'moderator_user_id' },
  event: Type.Object({
    ...userNames,
    ...broadcaster,
    followed_at: TimeSeconds,
  }),
  example: {
    ...exampleFollowerNames,
    ...exampleBroadcaster,
    followed_at: '2026-03-01T12:00:00Z',
  },
})

export const userUpdate = defineEventType({
  type: 'user.update',
  version: '1',
  summary: 'The name, description or email address of a user changed.',
  condition: Type.Object({ user_id: Type.String() }),
  subject: 'user_id',
  transports: ['webhook', 'websocket'],
  access: { kind: 'anyone' },
  event: Type.Object({
    ...userNames,
    email: Type.String({
      description: 'Empty unless the user has granted the application `user:read:email`.',
    }),
    email_verified: Type.Boolean(),
    description: Type.String(),
  }),
  example: {
    ...exampleNames,
    email: '',
    email_verified: false,
    description: exampleUser.description,
  },
})

const ofClient = {
  version: '1',
  condition: Type.Object({ client_id: Type.String() }),
  subject: 'client_id',
  transports: ['webhook'],
  access: { kind: 'client' },
  event: Type.Object({ client_id: Type.String(), ...userNames }),
  example: { client_id: exampleClient.id, ...exampleFollowerNames },
} as const

const authorizationGrant = defineEventType({
  type: 'user.authorization.grant',
  summary: 'A user authorized the application.',
  ...ofClient,
})

const authorizationRevoke = defineEventType({
  type: 'user.authorization.revoke',
  summary: 'A user disconnected the application, or was deleted.',
  ...ofClient,
})

const dropEntitlementGrant = defineEventType({
  type: 'drop.entitlement.grant',
  version: '1',
  summary: 'Entitlements were granted. Several are sent in one request.',
  condition: Type.Object({
    organization_id: Type.String(),
    category_id: Type.Optional(Type.String()),
    campaign_id: Type.Optional(Type.String()),
  }),
  subject: 'organization_id',
  transports: ['webhook'],
  access: { kind: 'organization' },
  isBatched: true,
  event: Type.Object({
    organization_id: Type.String(),
    category_id: Type.String(),
    category_name: Type.String(),
    campaign_id: Type.String({ description: 'Empty if the entitlement was not earned in a campaign.' }),
    user_id: Type.String(),
    user_name: Type.String(),
    user_login: Type.String(),
    entitlement_id: Type.String(),
    benefit_id: Type.String(),
    created_at: TimeMillis,
  }),
  example: {
    organization_id: exampleOrganization.id,
    category_id: exampleGame.id,
    category_name: exampleGame.name,
    campaign_id: '',
    user_id: '25009227',
    user_name: 'Quiet_Heron',
    user_login: 'quiet_heron',
    entitlement_id: exampleEntitlement.id,
    benefit_id: exampleEntitlement.benefit_id,
    created_at: exampleEntitlement.timestamp,
  },
})

const entitlementUpdate = defineEventType({
  type: 'strand.entitlement.update',
  version: '1',
  summary: 'The fulfilment status of an entitlement was set.',
  condition: Type.Object({ organization_id: Type.String() }),
  subject: 'organization_id',
  transports: ['webhook'],
  access: { kind: 'organization' },
  event: Type.Object({
    entitlement_id: Type.String(),
    user_id: Type.String(),
    game_id: Type.String(),
    fulfillment_status: FulfillmentStatus,
    previous_status: FulfillmentStatus,
    updated_at: TimeMillis,
  }),
  example: {
    entitlement_id: exampleEntitlement.id,
    user_id: exampleEntitlement.user_id,
    game_id: exampleEntitlement.game_id,
    fulfillment_status: 'FULFILLED',
    previous_status: 'CLAIMED',
    updated_at: '2026-03-01T12:05:00.000Z',
  },
})

const markerCreate = defineEventType({
  type: 'strand.marker.create',
  version: '1',
  summary: 'A marker was created.',
  ...ofBroadcaster,
  access: { kind: 'editor', scope: 'user:read:broadcast' },
  event: Type.Object({
    ...StreamMarker.properties,
    video_id: Type.String(),
    ...broadcaster,
    ...nameFields('creator_user'),
  }),
  example: {
    ...exampleMarker,
    video_id: '2412345678',
    ...exampleBroadcaster,
    ...namesAs('creator_user', exampleUser),
  },
})

export const EVENT_TYPES = [
  streamOnline,
  streamOffline,
  channelUpdate,
  channelFollow,
  userUpdate,
  authorizationGrant,
  authorizationRevoke,
  dropEntitlementGrant,
  entitlementUpdate,
  markerCreate,
] as const satisfies readonly EventType[]

type AnyEventType = (typeof EVENT_TYPES)[number]
export type EventTypeName = AnyEventType['type']
export type EventOf<Name extends EventTypeName> = Static<Extract<AnyEventType, { type: Name }>['event']>

export function findEventType(type: string, version: string): EventType | undefined {
  return EVENT_TYPES.find(each => each.type === type && each.version === version)
}

export function eventTypeNamed(type: EventTypeName): EventType {
  const found = EVENT_TYPES.find(each => each.type === type)
  if (found === undefined) throw new Error(`there is no event type ${type}`)
  return found
}
