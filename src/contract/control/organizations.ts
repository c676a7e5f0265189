import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { oneOf, pageOf } from '../page.ts'
import { Name, Uuid } from '../resources/id.ts'
import { exampleOrganization, exampleUser, Organization, User } from '../resources/world.ts'
import { Type } from '../schema.ts'

const path = { organization_id: exampleOrganization.id }
const one = { data: [exampleOrganization] }
const Member = Type.Object({ organization_id: Type.String(), user_id: Type.String() })

/** Organizations own games, benefits, clients and entitlements. */
export const createOrganization = defineOperation('POST /control/organizations', {
  id: 'CreateOrganization',
  summary: 'Create an organization with a new id.',
  access: operator,
  body: Type.Object({ name: Name }),
  returns: oneOf(Organization),
  problems: [],
  example: { body: { name: exampleOrganization.name }, answer: one },
})

export const putOrganization = defineOperation('PUT /control/organizations/{organization_id}', {
  id: 'PutOrganization',
  summary: 'Create or update the organization with this id.',
  access: operator,
  params: Type.Object({ organization_id: Uuid }),
  body: Type.Object({ name: Type.Optional(Name) }),
  returns: oneOf(Organization),
  problems: ['missing_parameter'],
  example: { params: path, body: { name: exampleOrganization.name }, answer: one },
})

export const getOrganization = defineOperation('GET /control/organizations/{organization_id}', {
  id: 'GetOrganization',
  summary: 'Get an organization.',
  access: operator,
  params: Type.Object({ organization_id: Type.String() }),
  returns: oneOf(Organization),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listOrganizations = defineOperation('GET /control/organizations', {
  id: 'ListOrganizations',
  summary: 'List organizations, ordered by id.',
  access: operator,
  query: Type.Object({
    name: Type.Optional(Type.String({ description: 'Exact match, case-sensitive.' })),
  }),
  page: { standard: 20, before: false },
  returns: pageOf(Organization),
  problems: [],
  example: { answer: { ...one, pagination: {} } },
})

export const deleteOrganization = defineOperation('DELETE /control/organizations/{organization_id}', {
  id: 'DeleteOrganization',
  summary: 'Delete an organization that owns nothing.',
  access: operator,
  params: Type.Object({ organization_id: Type.String() }),
  problems: ['not_found', 'in_use'],
  example: { params: path },
})

export const putMember = defineOperation('PUT /control/organizations/{organization_id}/members/{user_id}', {
  id: 'PutMember',
  summary: 'Make a user a member of the organization.',
  access: operator,
  params: Member,
  problems: ['not_found'],
  example: { params: { ...path, user_id: exampleUser.id } },
})

export const deleteMember = defineOperation(
  'DELETE /control/organizations/{organization_id}/members/{user_id}',
  {
    id: 'DeleteMember',
    summary: 'Remove a member from the organization.',
    access: operator,
    params: Member,
    problems: ['not_found'],
    example: { params: { ...path, user_id: exampleUser.id } },
  },
)

export const listMembers = defineOperation('GET /control/organizations/{organization_id}/members', {
  id: 'ListMembers',
  summary: 'List the members of the organization.',
  access: operator,
  params: Type.Object({ organization_id: Type.String() }),
  page: { standard: 20, before: false },
  returns: pageOf(User),
  problems: ['not_found'],
  example: { params: path, answer: { data: [exampleUser], pagination: {} } },
})
