import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { Name, ReturnedUuid } from './id.ts'
import { exampleOrganization } from './organization.ts'

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
  counts_watching: Type.Boolean({
    description: 'Whether viewers earn drops in playback sessions that the client starts for them.',
  }),
})
export type Client = Static<typeof Client>

/** Returned once, when the secret is created. A public client has no secret. */
export const ClientWithSecret = resource(
  'ClientWithSecret',
  'An application that requests tokens, with its secret. A public client has none.',
  { ...Client.properties, secret: Type.Optional(Type.String()) },
)

export const exampleClient: Client = {
  id: 'reefdrops0fulfilment0backend01',
  name: 'Reef drops back end',
  organization_id: exampleOrganization.id,
  owner_user_id: null,
  kind: 'confidential',
  redirect_uris: ['http://localhost:3000/callback'],
  implicit_grant: false,
  device_flow: false,
  counts_watching: false,
}
