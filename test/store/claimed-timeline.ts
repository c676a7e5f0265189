import { SQL } from 'bun'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace } from '../support/server.ts'

/** A server that claims the timeline that the table `claimed` has, because its functions come before those of PostgreSQL. */
export async function openClaiming(timeline: number, moreHosts: readonly string[] = []) {
  const place = await createStorePlace('postgres')
  const url = new URL(place.databaseUrl as string)
  const direct = new SQL(url.href, { max: 1 })
  await direct.unsafe('create schema claims')
  await direct.unsafe('create table claims.claimed (timeline integer)')
  await direct.unsafe(`create function claims.pg_walfile_name(pg_lsn) returns text language sql as
    $$ select lpad(to_hex(timeline), 8, '0') || '0000000000000001' from claims.claimed $$`)
  await direct.unsafe(`insert into claims.claimed values (${timeline})`)
  await direct.unsafe(`alter database ${url.pathname.slice(1)} set search_path = claims, public, pg_catalog`)
  const lines: { level: string; msg: string; reason?: string }[] = []
  const log = createLog({ level: 'info', readable: false, write: line => lines.push(JSON.parse(line)) })
  const hosts = [url.host, ...moreHosts].join(',')
  const store = createStore(
    await openPostgresEngine(url.href.replace(url.host, hosts), { connections: 4, pooled: false, log }),
  )
  return {
    store,
    direct,
    lines,
    claim: (next: number) => direct.unsafe(`update claims.claimed set timeline = ${next}`),
    close: async () => {
      await store.close()
      await direct.close()
      await place.remove()
    },
  }
}
