/**
 * Starts and ends of streams per second over the control API, on nodes that share a PostgreSQL and on the embedded store.
 * Every connection ends and starts a channel of its own, as fast as it is answered. Servers, database and generator share
 * all cores. `bun bench/measures/stream-changes.ts [--nodes 1,3] [--connections 5,32,200] [--seconds 5] [--embedded]`
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../../test/support/postgres.ts'
import { sendAround } from '../events/connections.ts'
import { Children, type Served } from '../load/children.ts'
import { processorSecondsOf } from '../load/process-usage.ts'
import { copyWorld } from '../world/copy-world.ts'
import { type BenchWorld, makeWorld, SMALLEST } from '../world/world.ts'

const { values: flags } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1,3' },
    connections: { type: 'string', default: '5,32,200' },
    seconds: { type: 'string', default: '5' },
    embedded: { type: 'boolean', default: false },
  },
})
const numbers = (text: string) => text.split(',').map(Number)
const WARM_UP_SECONDS = 1

const folder = mkdtempSync(join(tmpdir(), 'strand-stream-changes-'))
const children = new Children()
let stopDatabase = async () => {}
try {
  mkdirSync(join(folder, 'world'))
  const world = await makeWorld(join(folder, 'world'), SMALLEST, () => undefined)
  const postgres = await startPostgres({ durable: true })
  stopDatabase = postgres.stop
  await copyWorld(world.storeFile, postgres.url)
  for (const count of numbers(flags.nodes)) {
    const nodes: Served[] = []
    for (let node = 0; node < count; node++) nodes.push(await start(world, `${count}-${node}`, postgres.url))
    await measure(world, `PostgreSQL, nodes: ${count}`, nodes)
  }
  if (flags.embedded) await measure(world, 'embedded store', [await start(world, 'world')])
} finally {
  await children.stopAll()
  await stopDatabase()
  rmSync(folder, { recursive: true })
}

async function start(world: BenchWorld, name: string, databaseUrl?: string): Promise<Served> {
  const data = join(folder, name)
  mkdirSync(data, { recursive: true })
  const server = await children.startStrand(data, world.secrets, databaseUrl)
  // Not on the core of the server alone: three nodes need more.
  Bun.spawnSync(['taskset', '--all-tasks', '--cpu-list', '--pid', '0-1023', String(server.pid)])
  return server
}

async function measure(world: BenchWorld, name: string, nodes: readonly Served[]): Promise<void> {
  for (const connections of numbers(flags.connections)) {
    await changeAll(world, nodes, connections, WARM_UP_SECONDS)
    const [nodesBefore, machineBefore] = [secondsOfNodes(nodes), secondsOfMachine()]
    const perSecond = await changeAll(world, nodes, connections, Number(flags.seconds))
    const each = (seconds: number) => Math.round((seconds * 1e6) / (perSecond * Number(flags.seconds)))
    const costs = `${each(secondsOfNodes(nodes) - nodesBefore)} µs of the nodes each, ${each(secondsOfMachine() - machineBefore)} of the machine`
    console.log(`${name}; connections: ${connections}; ${Math.round(perSecond)}/s; ${costs}`)
  }
  for (const node of nodes) await node.stop()
}

function secondsOfNodes(nodes: readonly Served[]): number {
  return nodes.reduce((sum, { pid }) => sum + processorSecondsOf(pid), 0)
}

/** Of all processes on all cores: nodes, database and generator, if nothing else runs. */
function secondsOfMachine(): number {
  return cpus().reduce(
    (sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) / 1000,
    0,
  )
}

/** Deals the connections out to the nodes. */
async function changeAll(
  { liveIds, secrets }: BenchWorld,
  nodes: readonly Served[],
  connections: number,
  seconds: number,
): Promise<number> {
  const circles = liveIds.slice(-connections).map(id => {
    const stream = { path: `/control/channels/${id}/stream`, token: secrets.operatorToken }
    return [
      { ...stream, method: 'PUT' as const, body: {} },
      { ...stream, method: 'DELETE' as const },
    ]
  })
  const results = await Promise.all(
    nodes.map(({ url }, node) =>
      sendAround({ url, seconds, circles: circles.filter((_, circle) => circle % nodes.length === node) }),
    ),
  )
  return results.reduce((sum, each) => sum + each.answered / each.seconds, 0)
}
