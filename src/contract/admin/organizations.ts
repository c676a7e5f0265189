import { listBenefits } from '../control/benefits.ts'
import { listClients } from '../control/clients.ts'
import { listGames } from '../control/games.ts'
import {
  createOrganization,
  deleteMember,
  deleteOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
  putMember,
  putOrganization,
} from '../control/organizations.ts'
import { REEF } from './examples.ts'
import { USER_COLUMNS } from './fields.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const PEARL = '9a5df0a2-3a70-4f3b-9a3e-6f2d1b0c7e55'

const create = action('create', createOrganization, ['"Kelp Games"'], {
  arguments: ['name'],
  form: createForm('Create organization', 'The organization was created.'),
})
const set = action(
  'set',
  putOrganization,
  [`${REEF} --name "Reef Interactive"`, `${PEARL} --name "Pearl Works"`],
  { form: editForm(getOrganization, 'The organization was renamed.', { title: 'Rename' }) },
)
const list = action('list', listOrganizations, [''])
const show = action('show', getOrganization, [REEF])
const remove = action('delete', deleteOrganization, [`${PEARL} --yes`], {
  confirm: 'by-name',
  form: removeForm('The organization was deleted.'),
})

const addMember = action('add', putMember, [`${REEF} lunar_otter`], {
  form: { path: 'add-member', title: 'Add member', done: 'The member was added.' },
})
const memberList = action('list', listMembers, [REEF], { columns: USER_COLUMNS })
const removeMember = action('remove', deleteMember, [`${REEF} lunar_otter`], {
  confirm: 'undoable',
  form: { path: 'remove-member', title: 'Remove member', done: 'The member was removed.', hidden: true },
})

export const organizations: Resource = {
  nouns: [
    {
      words: 'org',
      meaning: 'organizations, which own games, benefits and clients',
      actions: [create, set, list, show, remove],
    },
    {
      words: 'org member',
      meaning: 'members of an organization',
      actions: [addMember, memberList, removeMember],
    },
  ],
  tables: [
    {
      path: 'organizations',
      title: 'Organizations',
      one: 'organization',
      group: 'People',
      list: listOrganizations,
      get: getOrganization,
      key: 'id',
      name: 'name',
      columns: ['name', 'id'],
      findBy: 'name',
      empty: 'There are no organizations. They own games, benefits and clients.',
      create,
      actions: [set, addMember, removeMember, remove],
      parts: [
        {
          title: 'Members',
          operation: listMembers,
          by: 'organization_id',
          of: 'users',
          columns: ['display_name', 'login'],
          remove: { action: removeMember, by: 'user_id' },
        },
        { title: 'Games', operation: listGames, by: 'organization_id', of: 'games' },
        { title: 'Benefits', operation: listBenefits, by: 'organization_id', of: 'benefits' },
        { title: 'Clients', operation: listClients, by: 'organization_id', of: 'clients' },
      ],
    },
  ],
}
