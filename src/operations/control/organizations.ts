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
import { raise } from '../../contract/problem.ts'
import { uuid } from '../../kit/id.ts'
import { idSortKey } from '../../store/queries/world.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreateOrganization = implement(createOrganization, async ({ body }, { store }) =>
  keepOrganization(store, uuid(), body.name),
)

export const handlePutOrganization = implement(putOrganization, async ({ params, body }, { store }) =>
  keepOrganization(store, params.organization_id.toLowerCase(), body.name),
)

async function keepOrganization(store: Store, id: string, name: string | undefined) {
  const result = await store.commands.putOrganization({ id, name })
  return result.outcome === 'done' ? { data: [result.organization] } : raise('missing_parameter', 'name')
}

export const handleGetOrganization = implement(getOrganization, async ({ params }, { store }) => {
  const { organization_id } = params
  const organization =
    (await store.organizations.find(organization_id)) ?? raise('not_found', 'organization', organization_id)
  return { data: [organization] }
})

export const handleListOrganizations = implement(
  listOrganizations,
  async ({ query, window, paginate }, { store }) => {
    const page = await store.organizations.page(query, window)
    return { data: [...page.rows], pagination: paginate(page, idSortKey) }
  },
)

export const handleDeleteOrganization = implement(deleteOrganization, async ({ params }, { store }) => {
  const outcome = await store.commands.deleteOrganization({ id: params.organization_id.toLowerCase() })
  if (outcome === 'in_use') {
    raise(
      'in_use',
      'The organization still owns games, benefits, clients or entitlements; delete those first.',
    )
  }
  return outcome === 'deleted' ? undefined : raise('not_found', 'organization', params.organization_id)
})

export const handlePutMember = implement(putMember, async ({ params }, { store }) => {
  const result = await store.commands.putMember({
    organization_id: params.organization_id.toLowerCase(),
    user_id: params.user_id,
  })
  return result.outcome === 'done' ? undefined : raise('not_found', result.kind, result.id)
})

export const handleDeleteMember = implement(deleteMember, async ({ params }, { store }) => {
  const gone = await store.commands.deleteMember({
    organization_id: params.organization_id.toLowerCase(),
    user_id: params.user_id,
  })
  return gone ? undefined : raise('not_found', 'member', params.user_id)
})

export const handleListMembers = implement(listMembers, async ({ params, window, paginate }, { store }) => {
  const { organization_id } = params
  if ((await store.organizations.find(organization_id)) === undefined) {
    return raise('not_found', 'organization', organization_id)
  }
  const page = await store.organizations.members(organization_id, window)
  return { data: [...page.rows], pagination: paginate(page, idSortKey) }
})
