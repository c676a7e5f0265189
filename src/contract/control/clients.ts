import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { CLIENT_KINDS, Client, ClientWithSecret, exampleClient } from '../resources/client.ts'
import { DecimalId, Name, Uuid } from '../resources/id.ts'
import { RedirectUris } from '../resources/redirect-uri.ts'
import { orNull, Type } from '../schema.ts'

const references = {
  organization_id: Type.Optional(orNull(Uuid)),
  owner_user_id: Type.Optional(orNull(DecimalId)),
  redirect_uris: Type.Optional(RedirectUris),
  implicit_grant: Type.Optional(Type.Boolean()),
  device_flow: Type.Optional(
    Type.Boolean({ description: 'Default: true for public clients, false for confidential ones.' }),
  ),
  counts_watching: Type.Optional(Type.Boolean()),
}
const path = { client_id: exampleClient.id }
const one = { data: [exampleClient] }
const withSecret = { data: [{ ...exampleClient, secret: '<CLIENT_SECRET>' }] }

/** Clients: the applications that request tokens. */
export const createClient = controlOperation('POST /control/clients', {
  id: 'CreateClient',
  summary: 'Register a client; only this answer contains the secret.',
  body: Type.Object({ name: Name, kind: Type.Optional(Type.Enum(CLIENT_KINDS)), ...references }),
  returns: singleSchema(ClientWithSecret),
  problems: ['unknown_reference'],
  example: {
    body: { name: exampleClient.name, organization_id: exampleClient.organization_id },
    answer: withSecret,
  },
})

export const getClient = controlOperation('GET /control/clients/{client_id}', {
  id: 'GetClient',
  summary: 'Get a client without its secret.',
  returns: singleSchema(Client),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listClients = controlOperation('GET /control/clients', {
  id: 'ListClients',
  summary: 'List clients, ordered by id.',
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    owner_user_id: Type.Optional(Type.String()),
  }),
  ...listing(Client),
  example: { answer: { ...one, pagination: {} } },
})

export const patchClient = controlOperation('PATCH /control/clients/{client_id}', {
  id: 'PatchClient',
  summary: 'Update a client; omitted fields keep their value.',
  description:
    'A client that becomes public loses its secret. A client that becomes confidential has no secret until `RotateClientSecret`.',
  body: Type.Object({
    name: Type.Optional(Name),
    kind: Type.Optional(Type.Enum(CLIENT_KINDS)),
    ...references,
  }),
  returns: singleSchema(Client),
  problems: ['not_found', 'unknown_reference'],
  example: { params: path, body: { name: exampleClient.name }, answer: one },
})

export const rotateClientSecret = controlOperation('POST /control/clients/{client_id}/rotate-secret', {
  id: 'RotateClientSecret',
  summary: 'Replace the secret of a confidential client; the old one becomes invalid immediately.',
  returns: singleSchema(ClientWithSecret),
  problems: ['not_found', 'in_use'],
  example: { params: path, answer: withSecret },
})

export const deleteClient = controlOperation('DELETE /control/clients/{client_id}', {
  id: 'DeleteClient',
  summary: 'Delete a client and revoke its tokens immediately.',
  problems: ['not_found', 'in_use'],
  example: { params: path },
})
