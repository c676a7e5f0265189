/** How long a test harness takes to start, from Node and from the built package, alone and ten at once. */
import { join } from 'node:path'
import type { Measure } from '../bench.ts'
import { ALL_CORES } from '../load/processes.ts'
import { median } from '../statistics.ts'

const ALONE = 9
const TOGETHER = 10
/** Prints the milliseconds of each start alone, then those of all at once. */
const script = (harness: string) => `const { startStrand } = await import(${JSON.stringify(harness)})
const times = []
for (const count of [...Array(${ALONE}).fill(1), ${TOGETHER}]) {
  const began = performance.now()
  const strands = await Promise.all(Array.from({ length: count }, () => startStrand()))
  times.push(performance.now() - began)
  await Promise.all(strands.map(strand => strand.stop()))
}
console.log(JSON.stringify(times))`

export const harness: Measure = {
  name: 'harness',
  seconds: () => 10,
  run: async ({ processes }) => {
    const words = [
      'node',
      '--input-type=module',
      '-e',
      script(join(processes.packageFolder, 'dist/testing/start-strand.js')),
    ]
    const times: number[] = JSON.parse(await processes.output(ALL_CORES, words))
    const together = times.pop() ?? Number.NaN
    return [
      { work: 'Start of a test harness', value: median(times), unit: 'ms', atMost: 500 },
      { work: `Start of ${TOGETHER} test harnesses at once`, value: together, unit: 'ms', atMost: 2500 },
    ]
  },
}
