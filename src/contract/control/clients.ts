import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { oneOf, pageOf } from '../page.ts'
import { DecimalId, Name, Uuid } from '../resources/id.ts'
import { RedirectUris } from '../resources/redirect-uri.ts'
import { CLIENT_KINDS, Client, ClientWithSecret, exampleClient } from '../resources/world.ts'
import { Type } from '../schema.ts'

const references = {
  organization_id: Type.Optional(Type.Union([Uuid, Type.Null()])),
  owner_user_id: Type.Optional(Type.Union([DecimalId, Type.Null()])),
  redirect_uris: Type.Optional(RedirectUris),
  implicit_grant: Type.Optional(Type.Boolean()),
  device_flow: Type.Optional(
    Type.Boolean({ description: 'Never set: on for public clients, off for confidential ones.' }),
  ),
}
const path = { client_id: exampleClient.id }
const one = { data: [exampleClient] }
const withSecret = { data: [{ ...exampleClient, secret: '<CLIENT_SECRET>' }] }

/** Clients are the programs that ask for tokens. */
export const createClient = defineOperation('POST /control/clients', {
  id: 'CreateClient',
  summary: 'Registers a client; the secret is in this answer only.',
  access: operator,
  body: Type.Object({ name: Name, kind: Type.Optional(Type.Enum(CLIENT_KINDS)), ...references }),
  returns: oneOf(ClientWithSecret),
  problems: ['unknown_reference'],
  example: {
    body: { name: exampleClient.name, organization_id: exampleClient.organization_id },
    answer: withSecret,
  },
})

export const getClient = defineOperation('GET /control/clients/{client_id}', {
  id: 'GetClient',
  summary: 'Shows a client, without its secret.',
  access: operator,
  params: Type.Object({ client_id: Type.String() }),
  returns: oneOf(Client),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listClients = defineOperation('GET /control/clients', {
  id: 'ListClients',
  summary: 'Lists clients by id.',
  access: operator,
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    owner_user_id: Type.Optional(Type.String()),
  }),
  page: { standard: 20, before: false },
  returns: pageOf(Client),
  problems: [],
  example: { answer: { ...one, pagination: {} } },
})

export const patchClient = defineOperation('PATCH /control/clients/{client_id}', {
  id: 'PatchClient',
  summary: 'Changes a client; fields left out keep their value.',
  description:
    'A client that becomes public loses its secret; one that becomes confidential gets one by RotateClientSecret.',
  access: operator,
  params: Type.Object({ client_id: Type.String() }),
  body: Type.Object({
    name: Type.Optional(Name),
    kind: Type.Optional(Type.Enum(CLIENT_KINDS)),
    ...references,
  }),
  returns: oneOf(Client),
  problems: ['not_found', 'unknown_reference'],
  example: { params: path, body: { name: exampleClient.name }, answer: one },
})

export const rotateClientSecret = defineOperation('POST /control/clients/{client_id}/rotate-secret', {
  id: 'RotateClientSecret',
  summary: 'Gives a confidential client a new secret; the old one ends at once.',
  access: operator,
  params: Type.Object({ client_id: Type.String() }),
  returns: oneOf(ClientWithSecret),
  problems: ['not_found', 'in_use'],
  example: { params: path, answer: withSecret },
})

export const deleteClient = defineOperation('DELETE /control/clients/{client_id}', {
  id: 'DeleteClient',
  summary: 'Deletes a client; its tokens end at once.',
  access: operator,
  params: Type.Object({ client_id: Type.String() }),
  problems: ['not_found'],
  example: { params: path },
})
