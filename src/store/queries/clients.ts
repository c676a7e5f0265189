import type { Page, Window } from '../../contract/page.ts'
import type { Client } from '../../contract/resources/client.ts'
import { Columns, json, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_ID } from '../keyset-order.ts'
import { type Sql, sql, verbatim } from '../sql/tag.ts'
import { type OrganizationFilter, ofOrganization } from './list-filters.ts'

/** Client flags as columns. Without an explicit choice, the device flow is on for public clients. */
export const clientFlags = (clients: 'clients' | 'c'): Sql => sql`
    coalesce((select 1 from implicit_clients i where i.client_id = ${verbatim(clients)}.id), 0) as implicit_grant,
    coalesce(
      (select d.enabled from device_flow_clients d where d.client_id = ${verbatim(clients)}.id),
      case when ${verbatim(clients)}.kind = 'public' then 1 else 0 end) as device_flow`

export interface ClientFlags {
  readonly implicit_grant: number
  readonly device_flow: number
}

export const readClientFlags = ({ implicit_grant, device_flow }: ClientFlags) => ({
  implicit_grant: implicit_grant === 1,
  device_flow: device_flow === 1,
})

/** The columns of the table; the flags have tables of their own. */
export const clientColumns = new Columns<Omit<Client, keyof ClientFlags>>('clients', {
  id: plain,
  name: plain,
  organization_id: plain,
  owner_user_id: plain,
  kind: plain,
  redirect_uris: json(),
})

const select = sql`select ${clientColumns.list},${clientFlags('clients')} from clients`
const readClient = (row: ClientFlags): Client => ({ ...clientColumns.read(row), ...readClientFlags(row) })

/** A client as OAuth endpoints need it. */
export interface ClientCredentials extends Pick<Client, 'id' | 'kind' | keyof ClientFlags> {
  readonly secret_hash: string | null
}

export const clientQueries = (db: Database) => ({
  find: async (id: string): Promise<Client | undefined> => {
    const row = await db.get<ClientFlags>(sql`${select} where id = ${id}`)
    return row && readClient(row)
  },
  /** What is needed to check a client's credentials. */
  credentials: async (id: string): Promise<ClientCredentials | undefined> => {
    const row = await db.get<Omit<ClientCredentials, keyof ClientFlags> & ClientFlags>(
      sql`select id, kind, secret_hash,${clientFlags('clients')} from clients where id = ${id}`,
    )
    return row && { ...row, ...readClientFlags(row) }
  },
  page: async (
    filter: OrganizationFilter & { readonly owner_user_id?: string | undefined },
    window: Window,
  ): Promise<Page<Client>> => {
    const { owner_user_id } = filter
    const page = await keysetPage<ClientFlags>(db, {
      select,
      where: [
        ...ofOrganization(filter),
        ...(owner_user_id === undefined ? [] : [sql`owner_user_id = ${owner_user_id}`]),
      ],
      order: BY_ID,
      window,
    })
    return { ...page, rows: page.rows.map(readClient) }
  },
})
