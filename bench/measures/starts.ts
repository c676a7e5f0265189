/** How long `npm install` takes, and from the start of a process to its first answer, with the memory that it then has. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Measure } from '../bench.ts'
import { ALL_CORES, ROOT } from '../load/processes.ts'
import { memoryOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median, ofRounds } from '../statistics.ts'
import type { BenchWorld } from '../world/world.ts'

const STARTS = 5
const SETTLE_MILLISECONDS = 1500

/** In a new checkout, as users run it, once npm has the packages in its cache. */
export const install: Measure = {
  name: 'install',
  run: async bench => {
    let seconds = 0
    for (const turn of ['first', 'second']) {
      const checkout = join(bench.folder('install'), turn)
      await bench.processes.output(ALL_CORES, ['git', 'clone', '--quiet', '--no-hardlinks', '.', checkout])
      const began = performance.now()
      await bench.processes.output(ALL_CORES, ['npm', 'install', '--prefix', checkout, '--loglevel', 'error'])
      seconds = (performance.now() - began) / 1000
    }
    return [{ work: 'npm install in a checkout', value: seconds, unit: 's of npm install', atMost: 30 }]
  },
}

export const starts: Measure = {
  name: 'starts',
  run: async bench => {
    const world = await bench.makeWorld('starts', bench.plan.size)
    const { packageFolder } = bench.processes
    const checkout = await measureStarts(bench, 's from a checkout', ROOT)
    const empty = await measureStarts(bench, 's from the package', packageFolder)
    const full = await measureStarts(bench, 's', packageFolder, world)
    return [
      { work: 'Start of a checkout', ...checkout, atMost: 0.6 },
      { work: 'Start of the package', ...empty, atMost: 0.35 },
      { work: `Start with ${whole(world.size.streams)} live streams`, ...full, atMost: 0.8 },
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
    times.push((strand.milliseconds ?? 0) / 1000)
    await Bun.sleep(SETTLE_MILLISECONDS)
    const server = readFileSync(`/proc/${strand.pid}/task/${strand.pid}/children`, 'utf8')
    resident.push(memoryOf(Number.parseInt(server, 10)).resident)
    await strand.stop()
  }
  return { unit, ...ofRounds(times), details: `resident memory ${whole(median(resident))} MB` }
}
