/**
 * Starts and ends of streams per second over the control API, on nodes that share a PostgreSQL and on the embedded store.
 * Every connection ends and starts another channel, as fast as it is answered. Servers, database and generator share all
 * cores, so what a change costs the nodes and the machine means more than the rate. A change that waits for more than a second
 * is rejected with 503.
 */
import { cpus } from 'node:os'
import type { Bench, Measure } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf, walBytesOf } from '../load/usage.ts'
import { whole } from '../report.ts'
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
      return measureMost(bench, world, nodes, databaseUrl)
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
async function measureMost(
  { plan }: Bench,
  world: BenchWorld,
  nodes: readonly Served[],
  databaseUrl?: string,
) {
  const seen: { value: number; unit: string; details: string }[] = []
  const { seconds } = plan.pace
  for (const connections of plan.connections) {
    await changeAll(world, nodes, connections, WARM_UP_SECONDS)
    const before = await usedBy(nodes, databaseUrl)
    const { perSecond, rejected } = await changeAll(world, nodes, connections, seconds)
    const after = await usedBy(nodes, databaseUrl)
    const [ofNodes, ofMachine, wal] = after.map((used, n) =>
      whole((used - (before[n] ?? 0)) / (perSecond * seconds)),
    )
    const details = `${connections} connections, ${rejected} rejected; each takes ${ofNodes} µs of the nodes, ${ofMachine} µs of the machine, ${wal} bytes of WAL`
    seen.push({ value: perSecond, unit: '/s', details })
    console.error(`bench: ${whole(perSecond)}/s with ${details}`)
  }
  for (const node of nodes) await node.stop()
  const [most] = seen.toSorted((a, b) => b.value - a.value)
  if (most === undefined) throw new Error('--connections needs a number')
  return most
}

/** Processor time of the nodes, and of all processes on all cores, if nothing else runs, in µs; and bytes of WAL. */
async function usedBy(nodes: readonly Served[], databaseUrl?: string): Promise<number[]> {
  const ofNodes = nodes.reduce((sum, { pid }) => sum + processorSecondsOf(pid) * 1e6, 0)
  const busy = cpus().map(({ times: { user, nice, sys, irq } }) => (user + nice + sys + irq) * 1000)
  const ofMachine = busy.reduce((sum, each) => sum + each, 0)
  return [ofNodes, ofMachine, databaseUrl === undefined ? 0 : await walBytesOf(databaseUrl)]
}

/** Deals the connections out to the nodes. */
async function changeAll(
  { liveIds, secrets }: BenchWorld,
  nodes: readonly Served[],
  connections: number,
  seconds: number,
): Promise<{ perSecond: number; rejected: number }> {
  const circles = liveIds.slice(-connections).map(id => {
    const stream = { path: `/control/channels/${id}/stream`, token: secrets.operatorToken }
    return [
      { ...stream, method: 'PUT' as const, body: {} },
      { ...stream, method: 'DELETE' as const },
    ]
  })
  const ofNode = (node: number) => circles.filter((_, circle) => circle % nodes.length === node)
  const results = await Promise.all(
    nodes.map(({ url }, node) => sendAround({ url, seconds, circles: ofNode(node), countsRejected: true })),
  )
  const sum = (of: 'perSecond' | 'rejected') => results.reduce((total, each) => total + each[of], 0)
  return { perSecond: sum('perSecond'), rejected: sum('rejected') }
}
