import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { Name, Uuid } from '../resources/id.ts'
import { exampleOrganization, Organization } from '../resources/organization.ts'
import { exampleUser, User } from '../resources/user.ts'
import { Type } from '../schema.ts'

const path = { organization_id: exampleOrganization.id }
const one = { data: [exampleOrganization] }

/** Organizations own games, benefits, clients and entitlements. */
export const createOrganization = controlOperation('POST /control/organizations', {
  id: 'CreateOrganization',
  summary: 'Create an organization with a new id.',
  body: Type.Object({ name: Name }),
  returns: singleSchema(Organization),
  example: { body: { name: exampleOrganization.name }, answer: one },
})

export const putOrganization = controlOperation('PUT /control/organizations/{organization_id}', {
  id: 'PutOrganization',
  summary: 'Create or update the organization with this id.',
  params: Type.Object({ organization_id: Uuid }),
  body: Type.Object({ name: Type.Optional(Name) }),
  returns: singleSchema(Organization),
  problems: ['missing_parameter'],
  example: { params: path, body: { name: exampleOrganization.name }, answer: one },
})

export const getOrganization = controlOperation('GET /control/organizations/{organization_id}', {
  id: 'GetOrganization',
  summary: 'Get an organization.',
  returns: singleSchema(Organization),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listOrganizations = controlOperation('GET /control/organizations', {
  id: 'ListOrganizations',
  summary: 'List organizations, ordered by id.',
  query: Type.Object({
    name: Type.Optional(Type.String({ description: 'Exact match, case-sensitive.' })),
  }),
  ...listing(Organization),
  example: { answer: { ...one, pagination: {} } },
})

export const deleteOrganization = controlOperation('DELETE /control/organizations/{organization_id}', {
  id: 'DeleteOrganization',
  summary: 'Delete an organization that owns nothing.',
  problems: ['not_found', 'in_use'],
  example: { params: path },
})

export const putMember = controlOperation('PUT /control/organizations/{organization_id}/members/{user_id}', {
  id: 'PutMember',
  summary: 'Make a user a member of the organization.',
  problems: ['not_found'],
  example: { params: { ...path, user_id: exampleUser.id } },
})

export const deleteMember = controlOperation(
  'DELETE /control/organizations/{organization_id}/members/{user_id}',
  {
    id: 'DeleteMember',
    summary: 'Remove a member from the organization.',
    problems: ['not_found'],
    example: { params: { ...path, user_id: exampleUser.id } },
  },
)

export const listMembers = controlOperation('GET /control/organizations/{organization_id}/members', {
  id: 'ListMembers',
  summary: 'List the members of the organization.',
  ...listing(User),
  problems: ['not_found'],
  example: { params: path, answer: { data: [exampleUser], pagination: {} } },
})
