/** Two nodes on a primary with two standbys, which answer reads of entitlements and markers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresCluster } from '../../rig/cluster/postgres-cluster.ts'
import type { PostgresNode } from '../../rig/cluster/postgres-node.ts'
import { prepareWorld } from '../../src/demo/demo.ts'
import type { World } from '../../src/demo/described-world.ts'
import { Lifetime } from '../../src/kit/lifetime.ts'
import { createLog } from '../../src/kit/log.ts'
import { must } from '../../src/kit/must.ts'
import { asRequest } from '../../src/kit/request-scope.ts'
import { readConfig } from '../../src/server/config.ts'
import { type StrandServer, startServer } from '../../src/server/serve.ts'
import { describeWorld } from '../../src/server/serve-demo.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { sql } from '../../src/store/sql/tag.ts'
import { scrape } from '../support/scrape.ts'
import { engines } from '../support/server.ts'

const STEP_MILLISECONDS = 30_000
/** The deadline of a read is 3 s; the rest is the way there and back on a busy machine. */
const LATEST_MILLISECONDS = 5000

describe.skipIf(!engines.includes('postgres'))('reads from standbys', () => {
  const lifetime = new Lifetime()
  let cluster: PostgresCluster
  let nodes: readonly [StrandServer, StrandServer]
  let world: World
  /** The entitlements of the organization, newest first. */
  let ids: readonly string[]

  const databaseUrl = () =>
    `postgres://postgres@${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/strand`

  const call = async (node: StrandServer, path: string, token: string, body?: unknown, method = 'PATCH') => {
    const headers = { Authorization: `Bearer ${token}`, 'Client-Id': world.client.id }
    const request = body === undefined ? {} : { method, body: JSON.stringify(body) }
    const answer = await fetch(`${node.url}/helix${path}`, {
      ...request,
      headers: { ...headers, 'Content-Type': 'application/json' },
    })
    return { status: answer.status, body: JSON.parse((await answer.text()) || '{}') }
  }
  const drops = (node: StrandServer, query = '') =>
    call(node, `/entitlements/drops?${query}`, world.client.app_token)
  const setStatus = (node: StrandServer, entitlement_ids: readonly string[], fulfillment_status: string) =>
    call(node, '/entitlements/drops', world.client.app_token, { entitlement_ids, fulfillment_status })
  const markers = (node: StrandServer) =>
    call(node, `/streams/markers?user_id=${world.broadcaster.id}&first=100`, world.broadcaster.token)

  /** Over both nodes. */
  const counted = async (series: string): Promise<number> => {
    const scrapes = await Promise.all(nodes.map(node => scrape(node.url)))
    return scrapes.reduce((sum, { series: found }) => sum + (found.get(series) ?? 0), 0)
  }
  const answeredBy = (server: 'standby' | 'primary') =>
    counted(`strand_postgres_standby_reads_total{server="${server}"}`)
  const fallbacks = (reason: string) => counted(`strand_postgres_standby_fallbacks_total{reason="${reason}"}`)

  /** Reads until both nodes get answers from a standby. */
  const untilStandbysAnswer = async () => {
    for (const node of nodes)
      await until('a standby answers', async () => {
        const before = await answeredBy('standby')
        expect((await drops(node, 'first=1')).status).toBe(200)
        return (await answeredBy('standby')) > before
      })
  }

  /**
   * One writer and readers on both nodes, while something happens. Every answer is 200, none takes longer than its deadline,
   * and none is older than what was acknowledged, or was seen by anybody, before it was asked for.
   */
  const underLoad = async (happen: () => Promise<unknown>, { writes = true } = {}) => {
    const id = must(ids[0], 'an entitlement')
    const faults: string[] = []
    const reads = [0, 0]
    let [known, isOver] = ['', false]
    const learn = (version: string) => {
      if (version > known) known = version
    }
    const timed = async <T>(what: string, work: () => Promise<T & { status: number }>) => {
      const began = performance.now()
      const answer = await work()
      const took = performance.now() - began
      if (answer.status !== 200) faults.push(`${what}: ${answer.status} ${JSON.stringify(answer)}`)
      if (took > LATEST_MILLISECONDS) faults.push(`${what}: ${took} ms`)
      return answer
    }
    const reader = async (index: number) => {
      while (!isOver) {
        const before = known
        const answer = await timed('read', () => drops(nodes[index] ?? nodes[0], `id=${id}`))
        const version = answer.body.data?.[0]?.last_updated ?? ''
        if (answer.status === 200 && version < before) faults.push(`${version} was read after ${before}`)
        learn(version)
        reads[index] = (reads[index] ?? 0) + 1
      }
    }
    const primary = cluster.primary.connect()
    const writer = async () => {
      for (let n = 0; writes && !isOver; n++) {
        const status = n % 2 === 0 ? 'FULFILLED' : 'CLAIMED'
        await timed('write', () => setStatus(must(nodes[n % 2], 'a node'), [id], status))
        const [row] = await primary.unsafe(
          'select last_updated::text as at from organization_entitlements where id = $1',
          [id],
        )
        learn(new Date(Number(row.at)).toISOString())
        await Bun.sleep(5)
      }
    }
    const load = Promise.all([reader(0), reader(1), reader(0), reader(1), writer()])
    try {
      await happen()
    } finally {
      isOver = true
      await load
      await primary.close()
    }
    expect(faults).toEqual([])
    expect(Math.min(...reads)).toBeGreaterThan(5)
  }

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-standbys-'))
    lifetime.onClose(() => rmSync(folder, { recursive: true, force: true }))
    // PostgreSQL may run as another user, who must reach its folders.
    chmodSync(folder, 0o711)
    cluster = await PostgresCluster.create(folder, lifetime)
    const settings = {
      STRAND_LISTEN: '127.0.0.1:0',
      STRAND_DATA: join(folder, 'data'),
      STRAND_MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
      STRAND_DATABASE_CONNECTIONS: '4',
      STRAND_STORE_WAIT_SECONDS: '60',
      STRAND_RATE_APP: '0',
      STRAND_RATE_USER: '0',
      STRAND_STANDBY_READS: 'on',
      DATABASE_URL: databaseUrl(),
    }
    const config = readConfig({}, undefined, settings)
    const log = createLog({ level: 'error', readable: false, write: line => process.stderr.write(line) })
    const one = await startServer({
      config,
      log,
      demo: true,
      prepare: async services => {
        const plan = await prepareWorld(services, { seed: 7, streams: 4 })
        world = describeWorld({ url: '', controlUrl: '' } as StrandServer, plan)
      },
    })
    lifetime.onClose(() => one.stop())
    const two = await startServer({ config, log, demo: one.services.demo ?? false })
    lifetime.onClose(() => two.stop())
    nodes = [one, two]
    ids = (await drops(one, 'first=100')).body.data.map((row: { id: string }) => row.id)
    await untilStandbysAnswer()
  })

  afterAll(() => lifetime.close())

  test('200 from the standbys, and none from the primary', async () => {
    const scans = () => Promise.all(cluster.standbys.map(scansOf)).then(([a = 0, b = 0]) => a + b)
    const scanned = await scans()
    // On a busy machine a standby may be late.
    await until('standbys answer everything', async () => {
      const [standby, primary] = [await answeredBy('standby'), await answeredBy('primary')]
      for (const node of nodes) {
        for (let n = 0; n < 20; n++) {
          expect((await drops(node)).status).toBe(200)
          expect((await markers(node)).status).toBe(200)
        }
      }
      // Markers are two reads: the video, and its markers.
      const areFromStandbys = (await answeredBy('standby')) >= standby + 40 + 2 * 40
      return areFromStandbys && (await answeredBy('primary')) === primary
    })
    // A connection publishes its statistics a second late, after a later read.
    await until('the standbys have counted the scans', async () => {
      await Promise.all(Array.from({ length: 10 }, (_, n) => drops(must(nodes[n % 2], 'a node'))))
      return (await scans()) >= scanned + 2 * 40
    })
  })

  test('200 with what was just acknowledged, by this node or another, while no standby replays anything', async () => {
    const [id = ''] = ids
    const [one, two] = nodes
    const primary = await answeredBy('primary')
    await Promise.all(cluster.standbys.map(each => each.ask('select pg_wal_replay_pause()')))
    for (const status of ['FULFILLED', 'CLAIMED', 'FULFILLED']) {
      expect((await setStatus(one, [id], status)).status).toBe(200)
      for (const node of [one, two])
        expect((await drops(node, `id=${id}`)).body.data[0].fulfillment_status).toBe(status)
    }
    const marker = { user_id: world.broadcaster.id, description: 'seen at once' }
    expect((await call(two, '/streams/markers', world.broadcaster.token, marker, 'POST')).status).toBe(200)
    for (const node of [one, two])
      expect(JSON.stringify((await markers(node)).body)).toContain('seen at once')
    expect(await answeredBy('primary')).toBeGreaterThanOrEqual(primary + 6 + 2 * 2)
    expect(await fallbacks('behind')).toBeGreaterThan(0)
    await Promise.all(cluster.standbys.map(each => each.ask('select pg_wal_replay_resume()')))
    await untilStandbysAnswer()
  })

  test('200 for every page of a walk over both nodes, complete, and no page is older than the changes before it', async () => {
    const seen: string[] = []
    let after = ''
    for (let page = 0; seen.length < ids.length; page++) {
      const [status, node] = [page % 2 === 0 ? 'FULFILLED' : 'CLAIMED', must(nodes[page % 2], 'a node')]
      if (page === 2) await must(cluster.standbys[0], 'a standby').ask('select pg_wal_replay_pause()')
      await setStatus(node, ids, status)
      const { body } = await drops(must(nodes[(page + 1) % 2], 'a node'), `first=30&after=${after}`)
      for (const row of body.data)
        if (ids.includes(row.id)) expect([row.id, row.fulfillment_status]).toEqual([row.id, status])
      seen.push(...body.data.map((row: { id: string }) => row.id))
      after = body.pagination.cursor ?? ''
    }
    expect(seen.slice(0, ids.length)).toEqual([...ids])
    await must(cluster.standbys[0], 'a standby').ask('select pg_wal_replay_resume()')
  })

  test('200 while a standby is killed under load, then the other; both are used again when they return', async () => {
    const [first, second] = cluster.standbys as [PostgresNode, PostgresNode]
    await underLoad(async () => {
      await Bun.sleep(300)
      await first.kill()
      await Bun.sleep(1000)
    })
    await underLoad(
      async () => {
        await second.kill()
        await Bun.sleep(500)
      },
      { writes: false },
    )
    await Promise.all([first.start(), second.start()])
    await cluster.untilInStep()
    await untilStandbysAnswer()
    await until('both are used', async () => {
      await drops(nodes[0])
      const { series } = await scrape(nodes[0].url)
      return cluster.standbys.every(
        ({ port }) => series.get(`strand_postgres_standby_usable{host="127.0.0.1:${port}"}`) === 1,
      )
    })
  })

  test('200 while a standby hangs under load', async () => {
    const [first] = cluster.standbys as [PostgresNode]
    await underLoad(async () => {
      first.pause()
      await Bun.sleep(2500)
      first.resume()
    })
    await cluster.untilInStep()
  })

  test('a read that a standby cancels because of a conflict with recovery is repeated on the primary', async () => {
    const { primary, standbys } = cluster
    await primary.ask('create table conflicting as select 7 as n')
    for (const each of standbys) {
      await each.ask(`alter system set max_standby_streaming_delay = '0'`)
      await each.ask('select pg_reload_conf()')
    }
    const engine = await openPostgresEngine(databaseUrl(), {
      connections: 4,
      pooled: false,
      standbyReads: true,
    })
    const store = {
      read: () =>
        asRequest(() =>
          engine.standbys.get<{ n: number; replica: boolean }>(
            sql`select n, pg_is_in_recovery() as replica, pg_sleep(case when pg_is_in_recovery() then 0.5 else 0 end) from conflicting`,
          ),
        ),
    }
    await until('a standby answers', async () => (await store.read())?.replica === true)
    const answer = store.read()
    await Bun.sleep(100)
    await primary.ask('alter table conflicting add column m integer')
    expect(await answer).toMatchObject({ n: 7, replica: false })
    await engine.close()
  })

  test('200 with what was acknowledged after a promotion, although a standby of the old primary is far ahead', async () => {
    const [old, [chosen, other]] = [cluster.primary, cluster.standbys as [PostgresNode, PostgresNode]]
    await untilStandbysAnswer()
    await cluster.promoteBeside(chosen)
    // A segment of the log is 16 MB.
    await old.ask('select pg_switch_wal()')
    await old.ask('create table ahead as select 1 as n')
    const [id = ''] = ids
    for (const status of ['CLAIMED', 'FULFILLED', 'CLAIMED']) {
      await until('the new primary is found', async () => {
        const answer = await setStatus(nodes[0], [id], status)
        const [row] = await chosen.ask<{ fulfilled: number }>(
          `select fulfilled from organization_entitlements where id = '${id}'`,
        )
        return answer.status === 200 && row?.fulfilled === (status === 'FULFILLED' ? 1 : 0)
      })
      for (const node of nodes) {
        await until('this node has found it', async () => {
          const { series } = await scrape(node.url)
          return series.get(`strand_postgres_primary_info{host="127.0.0.1:${chosen.port}"}`) === 1
        })
        for (let n = 0; n < 10; n++)
          expect((await drops(node, `id=${id}`)).body.data[0].fulfillment_status).toBe(status)
      }
    }
    const [ahead] = await other.ask<{ ahead: boolean }>(
      `select pg_last_wal_replay_lsn() > '${await endOf(chosen)}'::pg_lsn as ahead`,
    )
    expect(ahead?.ahead).toBe(true)
    await old.kill()
    await cluster.rebuild(other)
    await untilStandbysAnswer()
  })
})

/** How often its tables of entitlements and markers were scanned. */
async function scansOf(server: PostgresNode): Promise<number> {
  const [row] = await server.ask<{ scans: number }>(
    `select coalesce(sum(coalesce(idx_scan, 0) + coalesce(seq_scan, 0)), 0)::int as scans from pg_stat_user_tables
     where relname in ('organization_entitlements', 'video_markers')`,
  )
  return row?.scans ?? 0
}

async function endOf(primary: PostgresNode): Promise<string> {
  const [row] = await primary.ask<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn')
  return must(row, 'its position').lsn
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + STEP_MILLISECONDS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(50)
  }
}
