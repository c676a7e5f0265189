import { hashOf, mintSecret } from '../../auth/tokens.ts'
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  patchClient,
  rotateClientSecret,
} from '../../contract/control/clients.ts'
import { raise } from '../../contract/problem.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { idSortKey } from '../../store/queries/world.ts'
import { implement } from '../implement.ts'

export const handleCreateClient = implement(createClient, async ({ body }, { store }) => {
  const wanted = {
    id: randomAlphanumerics(30).toLowerCase(),
    name: body.name,
    organization_id: body.organization_id?.toLowerCase() ?? null,
    owner_user_id: body.owner_user_id ?? null,
    kind: body.kind ?? ('confidential' as const),
    redirect_uris: body.redirect_uris ?? [],
    implicit_grant: body.implicit_grant ?? false,
    device_flow: body.device_flow,
  }
  const secret = wanted.kind === 'confidential' ? mintSecret('secret') : undefined
  const result = await store.commands.createClient({
    client: wanted,
    secret_hash: secret ? hashOf(secret) : null,
  })
  if (result.outcome === 'unknown_reference') return raise('unknown_reference', result.kind, result.id)
  return { data: [{ ...result.client, ...(secret && { secret }) }] }
})

export const handleGetClient = implement(getClient, async ({ params }, { store }) => {
  const client =
    (await store.clients.find(params.client_id)) ?? raise('not_found', 'client', params.client_id)
  return { data: [client] }
})

export const handleListClients = implement(listClients, async ({ query, window, paginate }, { store }) => {
  const page = await store.clients.page(query, window)
  return { data: [...page.rows], pagination: paginate(page, idSortKey) }
})

export const handlePatchClient = implement(patchClient, async ({ params, body }, { store }) => {
  const result = await store.commands.changeClient({
    id: params.client_id,
    name: body.name,
    kind: body.kind,
    organization_id: body.organization_id?.toLowerCase() ?? body.organization_id,
    owner_user_id: body.owner_user_id,
    redirect_uris: body.redirect_uris,
    implicit_grant: body.implicit_grant,
    device_flow: body.device_flow,
  })
  if (result.outcome === 'absent') return raise('not_found', 'client', params.client_id)
  if (result.outcome === 'unknown_reference') return raise('unknown_reference', result.kind, result.id)
  return { data: [result.client] }
})

export const handleRotateClientSecret = implement(rotateClientSecret, async ({ params }, { store }) => {
  const secret = mintSecret('secret')
  const client = await store.commands.setClientSecret({ id: params.client_id, secret_hash: hashOf(secret) })
  if (client === 'absent') return raise('not_found', 'client', params.client_id)
  if (client === 'public') return raise('in_use', 'A public client has no secret.')
  return { data: [{ ...client, secret }] }
})

export const handleDeleteClient = implement(deleteClient, async ({ params }, { store }) => {
  const gone = await store.commands.deleteClient({ id: params.client_id })
  return gone ? undefined : raise('not_found', 'client', params.client_id)
})
