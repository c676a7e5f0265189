/**
 * `bun rig/measures/standby-reads.ts [--seconds 5] [--rounds 3] [--writes 50]`: what reads of entitlements cost the primary
 * and its two standbys, with STRAND_STANDBY_READS off and on. All servers share this machine, so the rates show no gain; the
 * processor time of the primary shows what it no longer does. With `writes` another caller updates entitlements, so many times
 * per second.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { processorSecondsOf } from '../../bench/load/usage.ts'
import { prepareWorld } from '../../src/demo/demo.ts'
import type { World } from '../../src/demo/described-world.ts'
import { Lifetime } from '../../src/kit/lifetime.ts'
import { createLog } from '../../src/kit/log.ts'
import type { Services } from '../../src/operations/implement.ts'
import { readConfig } from '../../src/server/config.ts'
import { type StrandServer, startServer } from '../../src/server/serve.ts'
import { describeWorld } from '../../src/server/serve-demo.ts'
import { scrape } from '../../test/support/scrape.ts'
import { PostgresCluster } from '../cluster/postgres-cluster.ts'
import type { PostgresNode } from '../cluster/postgres-node.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    writes: { type: 'string', default: '50' },
  },
})
const [SECONDS, ROUNDS, WRITES] = [Number(options.seconds), Number(options.rounds), Number(options.writes)]
const ENTITLEMENTS = 10_000
const AT_ONCE = 100
const CALLERS = 32

const lifetime = new Lifetime()
const folder = mkdtempSync(join(tmpdir(), 'strand-standby-reads-'))
lifetime.onClose(() => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o711)
const cluster = await PostgresCluster.create(folder, lifetime)
const settings = {
  DATABASE_URL: `postgres://postgres@${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/strand`,
  STRAND_MASTER_KEYS: `bench:${randomBytes(32).toString('base64')}`,
  STRAND_OPERATOR_TOKEN: randomBytes(20).toString('hex'),
  STRAND_RATE_APP: '0',
  STRAND_LISTEN: '127.0.0.1:0',
  STRAND_DATA: join(folder, 'data'),
}
let world: World

/** Of some entitlements. */
const ids: string[] = []

/** Fills the demo world with more entitlements. */
async function fill(services: Services): Promise<void> {
  const plan = await prepareWorld(services, { seed: 7, streams: 4 })
  world = describeWorld({ url: '', controlUrl: '' } as StrandServer, plan)
  const now = Date.now()
  for (let done = 0; done < ENTITLEMENTS; done += AT_ONCE) {
    const grants = Array.from({ length: AT_ONCE }, (_, n) => ({
      id: crypto.randomUUID(),
      user_id: world.viewer.id,
      benefit_id: world.benefit.id,
      game_id: world.game.id,
      timestamp: new Date(now + done + n).toISOString(),
      timestampGiven: true,
    }))
    ids.push(...grants.map(({ id }) => id))
    await services.store.commands.grantEntitlements({ grants })
  }
}

async function startNode(standbyReads: 'on' | 'off', first?: StrandServer): Promise<StrandServer> {
  const node = await startServer({
    config: readConfig({}, undefined, { ...settings, STRAND_STANDBY_READS: standbyReads }),
    log: createLog({ level: 'error', readable: false, write: line => process.stderr.write(line) }),
    demo: first?.services.demo ?? true,
    ...(first === undefined && { prepare: fill }),
  })
  lifetime.onClose(() => node.stop())
  return node
}

const off = await startNode('off')
const nodes = { off, on: await startNode('on', off) }

async function call(node: StrandServer, query: string, body?: unknown): Promise<void> {
  const answer = await fetch(`${node.url}/helix/entitlements/drops${query}`, {
    ...(body !== undefined && { method: 'PATCH', body: JSON.stringify(body) }),
    headers: {
      Authorization: `Bearer ${world.client.app_token}`,
      'Client-Id': world.client.id,
      'Content-Type': 'application/json',
    },
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`)
}

const QUERIES = {
  'page of 20': () => '?first=20',
  'by id': () => `?id=${ids[Math.floor(Math.random() * ids.length)]}`,
}

/** Processor time of a server with all its processes, in microseconds. */
function usedBy({ folder: place }: PostgresNode): number {
  const pid = Number.parseInt(readFileSync(join(place, 'postmaster.pid'), 'utf8'), 10)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return children.reduce((sum, child) => sum + processorSecondsOf(Number(child)) * 1e6, 0)
}

async function measure(node: StrandServer, query: () => string, writes: number) {
  const servers = () => [
    usedBy(cluster.primary),
    cluster.standbys.reduce((sum, each) => sum + usedBy(each), 0),
  ]
  const answered = async () => {
    const { series } = await scrape(node.url)
    const by = (server: string) => series.get(`strand_postgres_standby_reads_total{server="${server}"}`) ?? 0
    return [by('standby'), by('primary')]
  }
  const [before, answeredBefore] = [servers(), await answered()]
  const until = performance.now() + SECONDS * 1000
  let reads = 0
  const reader = async () => {
    for (; performance.now() < until; reads++) await call(node, query())
  }
  const writer = async () => {
    for (let n = 0; writes > 0 && performance.now() < until; n++) {
      const fulfillment_status = n % 2 === 0 ? 'FULFILLED' : 'CLAIMED'
      await call(node, '', { entitlement_ids: [ids[n % ids.length]], fulfillment_status })
      await Bun.sleep(1000 / writes)
    }
  }
  await Promise.all([...Array.from({ length: CALLERS }, reader), writer()])
  const [primary, standbys] = servers().map((used, index) => (used - (before[index] ?? 0)) / reads)
  const [byStandby = 0, byPrimary = 0] = (await answered()).map(
    (n, index) => n - (answeredBefore[index] ?? 0),
  )
  return {
    perSecond: reads / SECONDS,
    primary,
    standbys,
    share: byStandby / Math.max(1, byStandby + byPrimary),
  }
}

const median = (numbers: readonly (number | undefined)[]) =>
  numbers.toSorted((a = 0, b = 0) => a - b)[Math.floor(numbers.length / 2)] ?? 0

try {
  console.log('| Read | Setting | Reads/s | µs of the primary | µs of the standbys | From standbys |')
  console.log('|---|---|---|---|---|---|')
  for (const [name, query] of Object.entries(QUERIES)) {
    for (const node of Object.values(nodes)) for (let n = 0; n < 500; n++) await call(node, query())
    const runs = {
      off: [nodes.off, 0],
      on: [nodes.on, 0],
      'off, writes': [nodes.off, WRITES],
      'on, writes': [nodes.on, WRITES],
    } as const
    const measured = Object.keys(runs).map(() => [] as Awaited<ReturnType<typeof measure>>[])
    for (let round = 0; round < ROUNDS; round++)
      for (const [index, [node, writes]] of Object.values(runs).entries())
        measured[index]?.push(await measure(node, query, writes))
    for (const [index, setting] of Object.keys(runs).entries()) {
      const of = (field: 'perSecond' | 'primary' | 'standbys' | 'share') =>
        median(measured[index]?.map(each => each[field]) ?? [])
      const numbers = [of('perSecond'), of('primary'), of('standbys')].map(each => each.toFixed(0))
      console.log(`| ${name} | ${setting} | ${numbers.join(' | ')} | ${(100 * of('share')).toFixed(1)} % |`)
    }
  }
} finally {
  await lifetime.close()
}
process.exit(0)
