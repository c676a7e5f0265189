/**
 * Starts and ends of streams per second over the control API, on nodes that share a PostgreSQL and on the embedded store.
 * Every connection ends and starts another channel, as fast as it is answered. Servers, database and generator share all
 * cores, so what a change costs the nodes and the machine says more than the rate.
 */
import { cpus } from 'node:os'
import type { Bench, Measure } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

const WARM_UP_SECONDS = 1

export const streamChanges: Measure = {
  name: 'stream-changes',
  seconds: ({ connections, pace }) => 30 + 3 * connections.length * (WARM_UP_SECONDS + pace.seconds),
  run: async bench => {
    const { processes } = bench
    const world = await bench.makeWorld('stream-changes', SMALLEST)
    const options = { secrets: world.secrets, core: ALL_CORES }
    const databaseUrl = await processes.startDatabase(world)
    const measureNodes = async (count: number) => {
      const nodes: Served[] = []
      for (let node = 0; node < count; node++)
        nodes.push(await processes.startStrand(bench.folder(`node-${node}`), { ...options, databaseUrl }))
      return measureMost(bench, world, nodes)
    }
    const work = 'Stream starts and ends'
    return [
      { work: `${work}, PostgreSQL, one node`, ...(await measureNodes(1)), atLeast: 3000 },
      { work: `${work}, PostgreSQL, three nodes`, ...(await measureNodes(3)), atLeast: 5000 },
      {
        work: `${work}, embedded store`,
        ...(await measureMost(bench, world, [await processes.startStrand(world.folder, options)])),
      },
    ]
  },
}

/** Of all numbers of connections the one with the highest rate. */
async function measureMost({ plan }: Bench, world: BenchWorld, nodes: readonly Served[]) {
  const seen: { value: number; unit: string; details: string }[] = []
  const { seconds } = plan.pace
  for (const connections of plan.connections) {
    await changeAll(world, nodes, connections, WARM_UP_SECONDS)
    const [nodesBefore, machineBefore] = [secondsOfNodes(nodes), secondsOfMachine()]
    const value = await changeAll(world, nodes, connections, seconds)
    const each = (used: number) => Math.round((used * 1e6) / (value * seconds))
    const [ofNodes, ofMachine] = [secondsOfNodes(nodes) - nodesBefore, secondsOfMachine() - machineBefore]
    const details = `${connections} connections; each takes ${each(ofNodes)} µs of the nodes, ${each(ofMachine)} µs of the machine`
    seen.push({ value, unit: '/s', details })
    console.error(`bench: ${Math.round(value)}/s with ${details}`)
  }
  for (const node of nodes) await node.stop()
  const [most] = seen.toSorted((a, b) => b.value - a.value)
  if (most === undefined) throw new Error('--connections needs a number')
  return most
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
  return results.reduce((sum, each) => sum + each.perSecond, 0)
}
