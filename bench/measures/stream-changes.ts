/**
 * Starts and ends of streams per second over the control API, on nodes that share a PostgreSQL and on the embedded store.
 * Every connection ends and starts another channel, as fast as it is answered. Servers, database and generator share all
 * cores, so what a change costs the nodes means more than the rate. A change that waits for more than a second is rejected.
 */
import type { Measure } from '../bench.ts'
import { whole } from '../format.ts'
import { sendAround } from '../load/connections.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

const WARM_UP_SECONDS = 2
const SECONDS = 4
const CONNECTIONS = 400

export const streamChanges: Measure = {
  name: 'stream-changes',
  block: 'others',
  seconds: () => 45,
  run: async bench => {
    const world = await bench.makeWorld('stream-changes', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const measureNodes = async (
      where: string,
      folders: readonly string[],
      atLeast?: number,
      url?: string,
    ) => {
      const options = { secrets: world.secrets, core: ALL_CORES, ...(url && { databaseUrl: url }) }
      const nodes: Served[] = []
      for (const folder of folders) nodes.push(await bench.processes.startStrand(folder, options))
      await changeAll(world, nodes, WARM_UP_SECONDS)
      const before = processorSecondsOfAll(nodes)
      const { perSecond, rejected } = await changeAll(world, nodes, SECONDS)
      const cost = (1e6 * (processorSecondsOfAll(nodes) - before)) / (perSecond * SECONDS)
      for (const node of nodes) await node.stop()
      const details = `each takes ${whole(cost)} µs of the nodes, ${rejected} rejected`
      const result = { work: `Stream starts and ends, ${where}`, value: perSecond, unit: '/s', details }
      return atLeast === undefined ? result : { ...result, atLeast }
    }
    const folders = [0, 1, 2].map(node => bench.folder(`node-${node}`))
    return [
      await measureNodes('PostgreSQL, one node', folders.slice(0, 1), 3000, databaseUrl),
      await measureNodes('PostgreSQL, three nodes', folders, 5000, databaseUrl),
      await measureNodes('embedded store', [world.folder]),
    ]
  },
}

const processorSecondsOfAll = (nodes: readonly Served[]) =>
  nodes.reduce((sum, { pid }) => sum + processorSecondsOf(pid), 0)

/** Deals the connections out to the nodes. */
async function changeAll({ liveIds, secrets }: BenchWorld, nodes: readonly Served[], seconds: number) {
  const circles = liveIds.slice(-CONNECTIONS).map(id => {
    const stream = { path: `/control/channels/${id}/stream`, token: secrets.operatorToken }
    return [{ ...stream, method: 'PUT', body: {} } as const, { ...stream, method: 'DELETE' } as const]
  })
  const results = await Promise.all(
    nodes.map(({ url }, node) =>
      sendAround({ url, seconds, circles: circles.filter((_, n) => n % nodes.length === node) }),
    ),
  )
  const sum = (name: 'perSecond' | 'rejected') => results.reduce((total, each) => total + each[name], 0)
  return { perSecond: sum('perSecond'), rejected: sum('rejected') }
}
