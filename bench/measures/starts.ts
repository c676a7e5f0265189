/** From the start of a process to its first answer, and the memory that it takes. */
import { readFileSync } from 'node:fs'
import type { Bench, Measure } from '../bench.ts'
import { whole } from '../format.ts'
import { ALL_CORES } from '../load/processes.ts'
import { ROOT } from '../load/programs.ts'
import { memoryOf } from '../load/usage.ts'
import { median } from '../statistics.ts'
import { type BenchWorld, secondsToMake } from '../world/world.ts'

const STARTS = 5
const SETTLE_MILLISECONDS = 1500

export const starts: Measure = {
  name: 'starts',
  block: 'others',
  seconds: ({ size }) => secondsToMake(size) + 3 * STARTS * 2.5,
  run: async bench => {
    const world = await bench.makeWorld('starts', bench.plan.size)
    const { packageFolder } = bench.processes
    const live = `Start with ${whole(world.size.streams)} live streams`
    return [
      {
        ...(await measureStarts(bench, 's from a checkout', ROOT)),
        work: 'Start of a checkout',
        atMost: 0.6,
      },
      {
        ...(await measureStarts(bench, 's from the package', packageFolder)),
        work: 'Start of the package',
        atMost: 0.35,
      },
      { ...(await measureStarts(bench, 's', packageFolder, world)), work: live, atMost: 0.8 },
    ]
  },
}

/** Launched by Node on all cores, as people run it; the memory is that of the server, which the launcher has as a child. */
async function measureStarts(bench: Bench, unit: string, launchedFrom: string, world?: BenchWorld) {
  const [times, resident]: [number[], number[]] = [[], []]
  for (let start = 0; start < STARTS; start++) {
    const folder = world?.folder ?? bench.folder(`empty-${unit}-${start}`)
    const options = { launchedFrom, core: ALL_CORES, ...(world && { secrets: world.secrets }) }
    const strand = await bench.processes.startStrand(folder, options)
    times.push(strand.milliseconds / 1000)
    await Bun.sleep(SETTLE_MILLISECONDS)
    const server = readFileSync(`/proc/${strand.pid}/task/${strand.pid}/children`, 'utf8')
    resident.push(memoryOf(Number.parseInt(server, 10)).resident)
    await strand.stop()
  }
  const spread = [Math.min(...times), Math.max(...times)] as const
  return { value: median(times), unit, spread, details: `resident memory ${whole(median(resident))} MB` }
}
