import { hashToken, mintSecret } from '../../auth/tokens.ts'
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  patchClient,
  rotateClientSecret,
} from '../../contract/control/clients.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import { answerOne, answerPage, implement } from '../implement.ts'

export const handleCreateClient = implement(createClient, async ({ body }, { store }) => {
  const { kind = 'confidential' } = body
  const secret = kind === 'confidential' ? mintSecret('secret') : undefined
  const client = await store.commands.createClient({
    client: {
      ...body,
      id: randomAlphanumerics(30).toLowerCase(),
      organization_id: body.organization_id?.toLowerCase() ?? null,
      kind,
    },
    secret_hash: secret ? hashToken(secret) : null,
  })
  return isRefusal(client) ? client : { data: [{ ...client, ...(secret && { secret }) }] }
})

export const handleGetClient = implement(getClient, async ({ params: { client_id } }, { store }) =>
  answerOne((await store.clients.find(client_id)) ?? refuse('not_found', 'client', client_id)),
)

export const handleListClients = implement(listClients, async ({ query, window, paginate }, { store }) =>
  answerPage(await store.clients.page(query, window), idSortKey, paginate),
)

export const handlePatchClient = implement(patchClient, async ({ params, body }, { store }) => {
  const organization_id = body.organization_id?.toLowerCase() ?? body.organization_id
  return answerOne(await store.commands.changeClient({ ...body, id: params.client_id, organization_id }))
})

export const handleRotateClientSecret = implement(rotateClientSecret, async ({ params }, { store }) => {
  const secret = mintSecret('secret')
  const client = await store.commands.setClientSecret({
    id: params.client_id,
    secret_hash: hashToken(secret),
  })
  return isRefusal(client) ? client : { data: [{ ...client, secret }] }
})

/** Deletes the subscriptions of the client first, in steps, because they may have very many deliveries. */
export const handleDeleteClient = implement(deleteClient, async ({ params }, { store }) => {
  const { client_id } = params
  while ((await store.commands.purgeSubscriptions({ client_id })) > 0);
  return store.commands.deleteClient({ id: client_id })
})
