import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  patchClient,
  rotateClientSecret,
} from '../control/clients.ts'
import { listEventSubscriptions } from '../control/events.ts'
import { endToken, issueToken } from '../control/tokens.ts'
import { CLIENT, REEF } from './examples.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const create = action(
  'create',
  createClient,
  [
    `"Reef drops back end" --org ${REEF}`,
    '"Reef overlay" --kind public --redirect-uri http://localhost:3000/callback',
  ],
  { arguments: ['name'], form: createForm('Register client', 'The client was registered.') },
)
const list = action('list', listClients, [`--org ${REEF}`], {
  terminalColumns: ['id', 'name', 'kind', 'organization_id', 'owner_user_id', 'redirect_uris'],
})
const show = action('show', getClient, [CLIENT])
const edit = action(
  'edit',
  patchClient,
  [
    `${CLIENT} --redirect-uri https://reef.example/callback --no-implicit-grant`,
    `${CLIENT} --no-redirect-uri`,
    `${CLIENT} --device-flow`,
  ],
  { form: editForm(getClient, 'The client was changed.') },
)
const rotate = action('rotate-secret', rotateClientSecret, [`${CLIENT} --yes`], {
  confirm: 'final',
  form: { path: 'rotate-secret', title: 'Rotate secret', done: 'The secret was replaced.' },
})
const remove = action('delete', deleteClient, [`${CLIENT} --yes`], {
  confirm: 'by-name',
  form: removeForm('The client was deleted.'),
})

const issue = action(
  'create',
  issueToken,
  [
    `--client ${CLIENT}`,
    `--client ${CLIENT} --user lunar_otter --scope user:read:follows --scope channel:manage:broadcast`,
  ],
  { form: { path: 'token', title: 'Issue token', done: 'The token was issued.', by: 'client_id' } },
)
const end = action('end', endToken, ['--yes < token.txt'], { secret: 'token', confirm: 'final' })

/** OAuth clients and their access tokens. */
export const clients: Resource = {
  nouns: [
    { words: 'client', meaning: 'OAuth clients', actions: [create, list, show, edit, rotate, remove] },
    { words: 'token', meaning: 'access tokens', actions: [issue, end] },
  ],
  tables: [
    {
      path: 'clients',
      title: 'Clients',
      one: 'client',
      group: 'Applications',
      list: listClients,
      get: getClient,
      key: 'id',
      name: 'name',
      columns: ['name', 'id', 'kind', 'organization_id', 'owner_user_id'],
      empty: 'No application is registered.',
      create,
      actions: [edit, rotate, issue, remove],
      parts: [
        {
          title: 'Event subscriptions',
          operation: listEventSubscriptions,
          by: 'client_id',
          of: 'event-subscriptions',
        },
      ],
    },
  ],
}
