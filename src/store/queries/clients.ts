import type { Page, PageRequest } from '../../contract/page.ts'
import type { Client } from '../../contract/resources/client.ts'
import { Columns, flag, json, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_ID } from '../keyset-order.ts'
import { type Sql, sql, verbatim } from '../sql/tag.ts'
import { type OrganizationFilter, ofOrganization } from './list-filters.ts'

/** Without an explicit choice, the device flow is on for public clients. */
const deviceFlow = (clients: Sql): Sql =>
  sql`coalesce(${clients}.device_flow, case when ${clients}.kind = 'public' then 1 else 0 end) as device_flow`

export const clientFlags = (clients: 'clients' | 'c'): Sql =>
  sql`${verbatim(clients)}.implicit_grant, ${deviceFlow(verbatim(clients))}`

export interface ClientFlags {
  readonly implicit_grant: number
  readonly device_flow: number
}

export const readClientFlags = ({ implicit_grant, device_flow }: ClientFlags) => ({
  implicit_grant: implicit_grant === 1,
  device_flow: device_flow === 1,
})

/** Without the device flow, for which no choice is a value, too. */
export const clientColumns = new Columns<Omit<Client, 'device_flow'>>('clients', {
  id: plain,
  name: plain,
  organization_id: plain,
  owner_user_id: plain,
  kind: plain,
  redirect_uris: json(),
  implicit_grant: flag,
  counts_watching: flag,
})

export const clientFields = sql`${clientColumns.list}, ${deviceFlow(verbatim('clients'))}`
const select = sql`select ${clientFields} from clients`

interface StoredClient {
  readonly device_flow: number
}

const readClient = (row: StoredClient): Client => ({
  ...clientColumns.read(row),
  device_flow: row.device_flow === 1,
})

/**
 * The client has not been stopped by the suspension of its owner (D-278): that stops personal applications. One with an
 * organization continues to work, because the organization has other members.
 */
export const isNotStopped = (clients: 'clients' | 'c'): Sql =>
  sql`not exists (select 1 from users o where o.id = ${verbatim(clients)}.owner_user_id and o.suspended_at is not null
        and ${verbatim(clients)}.organization_id is null)`

/** A client as OAuth endpoints need it. */
export interface ClientCredentials extends Pick<Client, 'id' | 'kind' | keyof ClientFlags> {
  readonly secret_hash: string | null
}

export const clientQueries = (db: Database) => ({
  find: async (id: string): Promise<Client | undefined> => {
    const row = await db.get<StoredClient>(sql`${select} where id = ${id}`)
    return row && readClient(row)
  },
  /** What is needed to check a client's credentials; undefined also if it was stopped. */
  credentials: async (id: string): Promise<ClientCredentials | undefined> => {
    const row = await db.get<Omit<ClientCredentials, keyof ClientFlags> & ClientFlags>(
      sql`select id, kind, secret_hash,${clientFlags('clients')} from clients
          where id = ${id} and ${isNotStopped('clients')}`,
    )
    return row && { ...row, ...readClientFlags(row) }
  },
  page: async (
    filter: OrganizationFilter & { readonly owner_user_id?: string | undefined },
    window: PageRequest,
  ): Promise<Page<Client>> => {
    const { owner_user_id } = filter
    const page = await keysetPage<StoredClient>(db, {
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
