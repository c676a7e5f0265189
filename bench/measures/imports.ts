/** A large import into an embedded store: how fast, and how much memory at most. */
import { join } from 'node:path'
import type { Bench, Measure } from '../bench.ts'
import { whole } from '../report.ts'
import { writeLines } from '../world/history.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

/** Beyond the mapped pages of the store, which the system takes back when it needs them. */
const MAX_MEGABYTES = 400

export const imports: Measure = {
  name: 'import',
  seconds: ({ size }) => 20 + size.entitlements / 15_000,
  run: async bench => {
    const { entitlements } = bench.plan.size
    const world = await bench.makeWorld('import', SMALLEST)
    const { seconds, megabytes } = await importEntitlements(bench, world, entitlements)
    if (megabytes > MAX_MEGABYTES) throw new Error(`the import took ${whole(megabytes)} MB`)
    const details = `at most ${whole(megabytes)} MB of private memory`
    const result = { work: 'Import of entitlements, embedded store', unit: 'lines/s', details }
    return [{ ...result, value: entitlements / seconds, atLeast: 60_000 }]
  },
}

/** Users first; what is measured is the import of what they hold. */
export async function importEntitlements(bench: Bench, world: BenchWorld, count: number) {
  const folder = bench.folder('lines')
  const [users, held] = [join(folder, 'users.ndjson'), join(folder, 'held.ndjson')]
  await writeLines(world, count, users, held)
  await bench.processes.runStrand(world, ['import', users])
  return bench.processes.runStrand(world, ['import', held])
}
