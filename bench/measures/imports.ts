/** A large import and the export of it: how fast, and how much memory at most. */
import { join } from 'node:path'
import type { Bench, Measure } from '../bench.ts'
import { whole } from '../report.ts'
import { writeLines } from '../world/history.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

/** Beyond the mapped pages of the store, which the system takes back when it needs them. */
const MAX_MEGABYTES = 300

export const imports: Measure = {
  name: 'import',
  seconds: ({ size }) => 20 + size.entitlements / 15_000,
  run: async bench => {
    const { entitlements } = bench.plan.size
    const world = await bench.makeWorld('import', SMALLEST)
    const imported = await importEntitlements(bench, world, entitlements)
    const exported = await bench.processes.runStrand(world, 'export', join(world.folder, 'out.ndjson'))
    const memory = (peak: number) => ({
      details: `at most ${whole(peak)} MB of private memory${peak > MAX_MEGABYTES ? ', **too much**' : ''}`,
    })
    return [
      {
        work: 'Import of entitlements, embedded store',
        value: entitlements / imported.seconds,
        unit: 'lines/s',
        atLeast: 60_000,
        ...memory(imported.peak.own),
      },
      {
        work: 'Export',
        value: entitlements / exported.seconds,
        unit: 'lines/s',
        ...memory(exported.peak.own),
      },
    ]
  },
}

/** Users first; what is measured is the import of what they hold. */
export async function importEntitlements(bench: Bench, world: BenchWorld, count: number) {
  const folder = bench.folder('lines')
  const [users, held] = [join(folder, 'users.ndjson'), join(folder, 'held.ndjson')]
  await writeLines(world, count, users, held)
  await bench.processes.runStrand(world, 'import', users)
  return bench.processes.runStrand(world, 'import', held)
}
