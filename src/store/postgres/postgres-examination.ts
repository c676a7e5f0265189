import { SQL } from 'bun'
import { RESERVED_NAMES } from '../../domain/reserved-names.ts'
import { withTimeout } from '../../kit/time/with-timeout.ts'
import type { SchemaState } from '../engine/schema-state.ts'
import type { MediaServerAddress } from '../queries/media-servers.ts'
import { postgresSchema } from './postgres-migrate.ts'

/** The settings and state of a PostgreSQL server that matter to Strand. */
export interface PostgresState {
  readonly version: string
  readonly isPrimary: boolean
  readonly fsync: string
  readonly synchronousCommit: string
  readonly standbysWanted: string
  /** All streaming standbys, synchronous or not. */
  readonly standbysConnected: number
  readonly standbysInStep: number
  /** Whether the role may read the state of replication. Otherwise none of these standbys counts as synchronous. */
  readonly seesReplication: boolean
  readonly maxConnections: number
  /** Of these, those reserved for superusers and other privileged roles. */
  readonly reservedConnections: number
  /** Its clock, in Unix milliseconds. */
  readonly clock: number
  readonly schema: SchemaState
  readonly streamKeysByMasterKey: ReadonlyMap<string, number>
  readonly mediaServers: readonly MediaServerAddress[]
  /** The logins of users that are reserved by now. */
  readonly reservedLogins: readonly string[]
}

const CONNECT_SECONDS = 3
const QUERY_MILLISECONDS = 10_000

/** Queries one server without changing anything. Throws the errors of the client. */
export async function examinePostgres(url: string): Promise<PostgresState> {
  const client = new SQL(url, { max: 1, connectionTimeout: CONNECT_SECONDS, prepare: false })
  try {
    return await withTimeout(QUERY_MILLISECONDS, readState(client), () => {
      throw new Error(`no answer within ${QUERY_MILLISECONDS / 1000} s`)
    })
  } finally {
    await client.close({ timeout: 1 })
  }
}

async function readState(client: SQL): Promise<PostgresState> {
  const [row] = await client.unsafe(
    `select current_setting('server_version') as version, not pg_is_in_recovery() as primary,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
       current_setting('synchronous_standby_names') as wanted,
       (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as standbys,
       (select count(*)::int from pg_stat_replication) as connected,
       (select coalesce(bool_and(state is not null), true) from pg_stat_replication) as sees_replication,
       current_setting('max_connections')::int as connections,
       current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true), '0')::int as reserved,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as clock,
       to_regclass('users') is not null as has_schema`,
  )
  const keys: { id: string; count: number }[] = row.has_schema
    ? await client.unsafe(
        `select key_id as id, count(*)::int as count
         from (select key_id from stream_keys union all select key_id from extra_stream_keys) k group by key_id`,
      )
    : []
  const mediaServers: MediaServerAddress[] = row.has_schema
    ? await client.unsafe('select name, adapter, api_url from media_servers order by name')
    : []
  const reserved: { login: string }[] = row.has_schema
    ? await client.unsafe(
        `select login from users where login in (${RESERVED_NAMES.map(name => `'${name}'`).join(', ')}) order by login`,
      )
    : []
  return {
    version: row.version,
    isPrimary: row.primary,
    fsync: row.fsync,
    synchronousCommit: row.commit,
    standbysWanted: row.wanted,
    standbysConnected: row.connected,
    standbysInStep: row.standbys,
    seesReplication: row.sees_replication,
    maxConnections: row.connections,
    reservedConnections: row.reserved,
    clock: Number(row.clock),
    schema: await postgresSchema(client),
    streamKeysByMasterKey: new Map(keys.map(({ id, count }) => [id, count])),
    mediaServers: [...mediaServers],
    reservedLogins: reserved.map(({ login }) => login),
  }
}
