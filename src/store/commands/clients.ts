import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Client } from '../../contract/resources/client.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { isRegisteredRedirect } from '../../domain/oauth/redirect.ts'
import type { Transaction } from '../database.ts'
import { clientColumns, clientQueries } from '../queries/clients.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { endSubscriptionsToOrganization } from './end-subscriptions.ts'
import { refuseUnknown } from './references.ts'

/** A client to be stored; without `device_flow` it has the default of its kind. */
type NewClient = Changes<Client> & Pick<Client, 'id' | 'name'>

export async function createClient(
  tx: Transaction,
  args: { client: NewClient; secret_hash: string | null },
): Promise<Client | Refusal<'unknown_reference'>> {
  const { id, name, device_flow } = args.client
  const fresh: Omit<Client, 'device_flow'> = {
    id,
    name,
    organization_id: null,
    owner_user_id: null,
    kind: 'confidential',
    redirect_uris: [],
    implicit_grant: false,
    counts_watching: false,
  }
  const client = changed(fresh, args.client)
  const unknown = await refuseUnknownOwner(tx, client)
  if (unknown !== undefined) return unknown
  await clientColumns.insert(tx, [client], () => ({
    secret_hash: args.secret_hash,
    device_flow: device_flow === undefined ? null : Number(device_flow),
  }))
  const created = await asStored(tx, id)
  tx.record({ subject: `client/${id}`, after: created })
  return created
}

export async function changeClient(
  tx: Transaction,
  args: Changes<Client> & { readonly id: string },
): Promise<Client | Refusal<'not_found' | 'unknown_reference'>> {
  await tx.lock(sql`select id from clients where id = ${args.id}`, 'clients')
  const before = await clientQueries(tx).find(args.id)
  if (before === undefined) return refuse('not_found', 'client', args.id)
  const unknown = await refuseUnknownOwner(tx, args)
  if (unknown !== undefined) return unknown
  const wanted = changed(before, args)
  await clientColumns.update(tx, wanted)
  // Without a choice, a client keeps the default of its kind, even when its kind changes.
  if (args.device_flow !== undefined)
    await tx.run(sql`update clients set device_flow = ${Number(args.device_flow)} where id = ${args.id}`)
  if (wanted.kind === 'public') await tx.run(sql`update clients set secret_hash = null where id = ${args.id}`)
  if (wanted.kind === 'public' && before.kind !== 'public') await endConfidentialRights(tx, args.id)
  if (before.redirect_uris.some(uri => !wanted.redirect_uris.includes(uri)))
    await dropCodesElsewhere(tx, wanted)
  const client = await asStored(tx, args.id)
  // Waiting devices would be refused at the last step anyway; this fails them at once.
  if (!client.device_flow) await tx.run(sql`delete from device_codes where client_id = ${client.id}`)
  const { organization_id } = before
  if (organization_id !== null && organization_id !== client.organization_id)
    await endSubscriptionsToOrganization(tx, { client_id: client.id, organization_id })
  tx.publish({ kind: 'access', access: { client_id: client.id } })
  tx.record({ subject: `client/${client.id}`, before, after: client })
  return client
}

export async function setClientSecret(
  tx: Transaction,
  args: { id: string; secret_hash: string },
): Promise<Client | Refusal<'not_found' | 'in_use'>> {
  await tx.lock(sql`select id from clients where id = ${args.id}`, 'clients')
  const client = await clientQueries(tx).find(args.id)
  if (client === undefined) return refuse('not_found', 'client', args.id)
  if (client.kind === 'public') return refuse('in_use', 'A public client has no secret.')
  await tx.run(sql`update clients set secret_hash = ${args.secret_hash} where id = ${args.id}`)
  tx.record({ subject: `client/${args.id}`, before: client, after: { ...client, secret: 'changed' } })
  return client
}

/** Deletes a client that no campaign needs, and all its tokens. */
export async function deleteClient(tx: Transaction, args: { id: string }) {
  await tx.lock(sql`select id from clients where id = ${args.id}`, 'clients')
  const before = await clientQueries(tx).find(args.id)
  if (before === undefined) return refuse('not_found', 'client', args.id)
  const linked = await tx.get(sql`select 1 as yes from campaigns where link_client_id = ${args.id} limit 1`)
  if (linked !== undefined) return refuse('in_use', 'A campaign has this client for linked accounts.')
  await tx.run(sql`delete from clients where id = ${args.id}`)
  tx.publish({ kind: 'access', access: { client_id: args.id } })
  tx.record({ subject: `client/${args.id}`, before })
  return undefined
}

/** Ends what a public client cannot have: app tokens, refresh tokens that never expire, codes that need no verifier. */
async function endConfidentialRights(tx: Transaction, client_id: string): Promise<void> {
  await tx.run(sql`delete from tokens where client_id = ${client_id} and kind in ('app', 'refresh')`)
  await tx.run(
    sql`delete from authorization_codes where client_id = ${client_id} and used_at is null and challenge is null`,
  )
}

/** Deletes codes that would be redeemed for a redirect URI which is no longer registered. */
async function dropCodesElsewhere(tx: Transaction, { id, redirect_uris }: Client): Promise<void> {
  const pending = sql`client_id = ${id} and used_at is null`
  const given = await tx.all<{ redirect_uri: string }>(
    sql`select distinct redirect_uri from authorization_codes where ${pending}`,
  )
  const gone = given
    .map(({ redirect_uri }) => redirect_uri)
    .filter(uri => !isRegisteredRedirect(redirect_uris, uri))
  if (gone.length > 0)
    await tx.run(
      sql`delete from authorization_codes where ${pending} and ${isOneOf(sql`redirect_uri`, gone)}`,
    )
}

async function asStored(tx: Transaction, id: string): Promise<Client> {
  const client = await clientQueries(tx).find(id)
  if (client === undefined) throw new Error('the client was just written')
  return client
}

function refuseUnknownOwner(tx: Transaction, owner: Changes<Client>) {
  return refuseUnknown(tx, { organization: [owner.organization_id], user: [owner.owner_user_id] })
}
