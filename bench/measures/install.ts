/** How long `npm install` takes in a new checkout, as users run it, once npm has the packages in its cache. */
import { join } from 'node:path'
import type { Measure } from '../bench.ts'
import { ALL_CORES } from '../load/processes.ts'

export const install: Measure = {
  name: 'install',
  block: 'others',
  seconds: () => 60,
  run: async bench => {
    const seconds: number[] = []
    for (const turn of ['first', 'second']) {
      const folder = join(bench.folder('install'), turn)
      await bench.processes.output(ALL_CORES, ['git', 'clone', '--quiet', '--no-hardlinks', '.', folder])
      const began = performance.now()
      await bench.processes.output(ALL_CORES, ['npm', 'install', '--prefix', folder, '--loglevel', 'error'])
      seconds.push((performance.now() - began) / 1000)
    }
    return [
      { work: 'npm install in a checkout', value: seconds[1] ?? 0, unit: 's of npm install', atMost: 30 },
    ]
  },
}
