/**
 * What a request costs a node on PostgreSQL, compared with the embedded store, in requests per second of processor time of
 * the server: node, database and generator share two cores here, so their rate has little meaning. The time of PostgreSQL is
 * not in it, that of the embedded store is.
 */
import type { Measure } from '../bench.ts'
import { scenarios } from '../scenarios/index.ts'
import { SMALLEST } from '../world/world.ts'
import { compareServers, secondsOfTurns } from './rounds.ts'

export const nodes: Measure = {
  name: 'nodes',
  seconds: ({ pace }) => 30 + scenarios.length * secondsOfTurns(pace, 2),
  run: async bench => {
    const world = await bench.makeWorld('nodes', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const options = { secrets: world.secrets, databaseUrl }
    const node = { world, strand: await bench.processes.startStrand(bench.folder('node'), options) }
    const embedded = await bench.inhabit(world)
    return compareServers(bench, scenarios, [node, embedded], 'perCore', 'the embedded store, per core')
  },
}
