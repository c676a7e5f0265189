import {
  createOrganization,
  deleteMember,
  deleteOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
  putMember,
  putOrganization,
} from '../../contract/control/organizations.ts'
import { refuse } from '../../contract/problem.ts'
import { uuid } from '../../kit/id.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import { answerOne, answerPage, implement } from '../implement.ts'

export const handleCreateOrganization = implement(createOrganization, async ({ body }, { store }) =>
  answerOne(await store.commands.putOrganization({ id: uuid(), name: body.name })),
)

export const handlePutOrganization = implement(putOrganization, async ({ params, body }, { store }) =>
  answerOne(
    await store.commands.putOrganization({ id: params.organization_id.toLowerCase(), name: body.name }),
  ),
)

export const handleGetOrganization = implement(getOrganization, async ({ params }, { store }) => {
  const { organization_id } = params
  return answerOne(
    (await store.organizations.find(organization_id)) ?? refuse('not_found', 'organization', organization_id),
  )
})

export const handleListOrganizations = implement(
  listOrganizations,
  async ({ query, window, paginate }, { store }) =>
    answerPage(await store.organizations.page(query, window), idSortKey, paginate),
)

export const handleDeleteOrganization = implement(deleteOrganization, ({ params }, { store }) =>
  store.commands.deleteOrganization({ id: params.organization_id.toLowerCase() }),
)

export const handlePutMember = implement(putMember, ({ params }, { store }) =>
  store.commands.putMember({ ...params, organization_id: params.organization_id.toLowerCase() }),
)

export const handleDeleteMember = implement(deleteMember, ({ params }, { store }) =>
  store.commands.deleteMember({ ...params, organization_id: params.organization_id.toLowerCase() }),
)

export const handleListMembers = implement(listMembers, async ({ params, window, paginate }, { store }) => {
  const { organization_id } = params
  if ((await store.organizations.find(organization_id)) === undefined) {
    return refuse('not_found', 'organization', organization_id)
  }
  return answerPage(await store.organizations.members(organization_id, window), idSortKey, paginate)
})
