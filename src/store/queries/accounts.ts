import type { Client } from '../../contract/resources/client.ts'
import type { User } from '../../contract/resources/user.ts'
import type { Database } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { type ClientFlags, clientFlags, isNotStopped, readClientFlags } from './clients.ts'

/** A running session and its user. */
export interface Session {
  readonly id: string
  readonly user_id: string
  readonly login: string
  readonly display_name: string
  readonly created_at: string
  readonly seen_at: string
  readonly expires_at: string
  readonly browser: string
}

/** An application that a user has connected. */
export interface Connection {
  readonly client_id: string
  readonly name: string
  /** The organization of the client, or the user who owns it. */
  readonly owner: string | null
  readonly scopes: readonly string[]
  readonly created_at: string
}

const sessionColumns = sql`select s.id, s.user_id, u.login, u.display_name, s.created_at, s.seen_at, s.expires_at, s.browser
  from sessions s join users u on u.id = s.user_id and u.suspended_at is null`

export const accountQueries = (db: Database) => ({
  /** The user with a login, and the hash that the password is checked against. */
  credentials: (login: string) =>
    db.get<Pick<User, 'id' | 'login' | 'display_name' | 'suspended_at'> & { password_hash: string | null }>(
      sql`select id, login, display_name, suspended_at, password_hash from users where login = ${login.toLowerCase()}`,
    ),

  /** The user who can set a password with a link. */
  withPasswordReset: (hash: string, now: string) =>
    db.get<Pick<User, 'id' | 'login'>>(
      sql`select id, login from users
          where reset_hash = ${hash} and reset_expires_at > ${now} and suspended_at is null`,
    ),

  session: (hash: string, now: string) =>
    db.get<Session>(sql`${sessionColumns} where s.hash = ${hash} and s.expires_at > ${now}`),

  /** Whether or not it has expired. */
  sessionWithId: (id: string) => db.get<Session>(sql`${sessionColumns} where s.id = ${id}`),

  sessionsOf: (user_id: string, now: string) =>
    db.all<Session>(
      sql`${sessionColumns} where s.user_id = ${user_id} and s.expires_at > ${now} order by s.seen_at desc, s.id limit 100`,
    ),

  connectionsOf: async (user_id: string): Promise<Connection[]> => {
    const rows = await db.all<Omit<Connection, 'scopes'> & { scopes: string }>(
      sql`select n.client_id, c.name, coalesce(o.name, u.display_name) as owner, n.scopes, n.created_at
          from connections n
          join clients c on c.id = n.client_id
          left join organizations o on o.id = c.organization_id
          left join users u on u.id = c.owner_user_id
          where n.user_id = ${user_id} order by n.created_at desc, n.client_id limit 500`,
    )
    return rows.map(row => ({ ...row, scopes: JSON.parse(row.scopes) }))
  },

  /** The scopes that a user has allowed an application so far; undefined if it is not connected. */
  allowedScopes: async (user_id: string, client_id: string): Promise<string[] | undefined> => {
    const row = await db.get<{ scopes: string }>(
      sql`select scopes from connections where user_id = ${user_id} and client_id = ${client_id}`,
    )
    return row && JSON.parse(row.scopes)
  },

  /** The requesting application, as the consent page shows it; undefined also if it was stopped. */
  application: async (client_id: string): Promise<Application | undefined> => {
    const row = await db.get<
      Omit<Application, 'redirect_uris' | keyof ClientFlags> & ClientFlags & { redirect_uris: string }
    >(
      sql`select c.id, c.name, c.kind, c.redirect_uris, coalesce(o.name, u.display_name) as owner,${clientFlags('c')}
          from clients c
          left join organizations o on o.id = c.organization_id
          left join users u on u.id = c.owner_user_id
          where c.id = ${client_id} and ${isNotStopped('c')}`,
    )
    return row && { ...row, redirect_uris: JSON.parse(row.redirect_uris), ...readClientFlags(row) }
  },

  /** The decision about a device so far. Devices poll this every second, so it must not use the writer. */
  deviceDecision: async (hash: string, client_id: string, now: string): Promise<string | undefined> => {
    const row = await db.get<{ decision: string }>(
      sql`select decision from device_codes
          where hash = ${hash} and client_id = ${client_id} and expires_at > ${now}`,
    )
    return row?.decision
  },

  /** A device waiting for a decision. */
  waitingDevice: (user_code: string, now: string) =>
    db.get<{ hash: string; client_id: string; scopes: string }>(
      sql`select hash, client_id, scopes from device_codes
          where user_code = ${user_code} and decision = 'pending' and expires_at > ${now}`,
    ),
})

export interface Application
  extends Pick<Client, 'id' | 'name' | 'kind' | 'redirect_uris' | keyof ClientFlags> {
  readonly owner: string | null
}
