import type { Client } from '../../contract/resources/world.ts'
import type { Transaction } from '../database.ts'
import { clientQueries } from '../queries/world.ts'
import { sql } from '../sql/tag.ts'
import { deleteById, type MissingReference, missingReference } from './references.ts'

export async function createClient(
  tx: Transaction,
  args: { client: Client; secret_hash: string | null },
): Promise<{ outcome: 'done' } | MissingReference> {
  const { client } = args
  const missing = await missingOwner(tx, client)
  if (missing !== undefined) return missing
  await tx.run(
    sql`insert into clients (id, name, organization_id, owner_user_id, kind, redirect_uris, secret_hash)
        values (${client.id}, ${client.name}, ${client.organization_id}, ${client.owner_user_id}, ${client.kind},
          ${JSON.stringify(client.redirect_uris)}, ${args.secret_hash})`,
  )
  if (client.implicit_grant) await allowImplicit(tx, client.id)
  tx.record({ subject: `client/${client.id}`, after: client })
  return { outcome: 'done' }
}

export async function changeClient(
  tx: Transaction,
  args: {
    id: string
    name?: string | undefined
    kind?: Client['kind'] | undefined
    organization_id?: string | null | undefined
    owner_user_id?: string | null | undefined
    redirect_uris?: readonly string[] | undefined
    implicit_grant?: boolean | undefined
  },
): Promise<{ outcome: 'done'; client: Client } | { outcome: 'absent' } | MissingReference> {
  await tx.lock(sql`select id from clients where id = ${args.id}`, 'clients')
  const before = await clientQueries(tx).find(args.id)
  if (before === undefined) return { outcome: 'absent' }
  const missing = await missingOwner(tx, args)
  if (missing !== undefined) return missing
  const client: Client = {
    ...before,
    name: args.name ?? before.name,
    kind: args.kind ?? before.kind,
    organization_id: args.organization_id === undefined ? before.organization_id : args.organization_id,
    owner_user_id: args.owner_user_id === undefined ? before.owner_user_id : args.owner_user_id,
    redirect_uris: [...(args.redirect_uris ?? before.redirect_uris)],
    implicit_grant: args.implicit_grant ?? before.implicit_grant,
  }
  await tx.run(
    sql`update clients set name = ${client.name}, kind = ${client.kind}, organization_id = ${client.organization_id},
          owner_user_id = ${client.owner_user_id}, redirect_uris = ${JSON.stringify(client.redirect_uris)}
        where id = ${client.id}`,
  )
  if (client.kind === 'public')
    await tx.run(sql`update clients set secret_hash = null where id = ${client.id}`)
  await tx.run(sql`delete from implicit_clients where client_id = ${client.id}`)
  if (client.implicit_grant) await allowImplicit(tx, client.id)
  tx.publish({ kind: 'access', access: { client_id: client.id } })
  tx.record({ subject: `client/${client.id}`, before, after: client })
  return { outcome: 'done', client }
}

export async function setClientSecret(
  tx: Transaction,
  args: { id: string; secret_hash: string },
): Promise<Client | 'absent' | 'public'> {
  const client = await clientQueries(tx).find(args.id)
  if (client === undefined) return 'absent'
  if (client.kind === 'public') return 'public'
  await tx.run(sql`update clients set secret_hash = ${args.secret_hash} where id = ${args.id}`)
  tx.record({ subject: `client/${args.id}`, before: client, after: { ...client, secret: 'changed' } })
  return client
}

/** Deletes a client and with it every token it holds. */
export async function deleteClient(tx: Transaction, args: { id: string }): Promise<boolean> {
  const before = await clientQueries(tx).find(args.id)
  tx.publish({ kind: 'access', access: { client_id: args.id } })
  const deleted = await deleteById(tx, 'client', args.id)
  if (deleted) tx.record({ subject: `client/${args.id}`, before })
  return deleted
}

async function allowImplicit(tx: Transaction, client_id: string): Promise<void> {
  await tx.run(sql`insert into implicit_clients (client_id) values (${client_id})`)
}

async function missingOwner(
  tx: Transaction,
  owner: { organization_id?: string | null | undefined; owner_user_id?: string | null | undefined },
): Promise<MissingReference | undefined> {
  return (
    (await missingReference(tx, 'organization', [owner.organization_id])) ??
    (await missingReference(tx, 'user', [owner.owner_user_id]))
  )
}
