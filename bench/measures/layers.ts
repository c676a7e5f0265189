/**
 * What the layers above the statement of a handler cost together: the difference in processor time between Strand and the
 * least server, which has none of them. A loop around each layer alone explains less than half of it.
 */
import type { Measure, Result } from '../bench.ts'
import { loadOn } from '../load/wrk.ts'
import { scenarios } from '../scenarios.ts'
import { median } from '../statistics.ts'
import { inTurns, prepare } from './compare.ts'

const MAX_MICROSECONDS = 21
/** Short answers, of which the layers are most. */
const NAMES = ['get-drops-entitlements-by-id', 'get-stream-key']
const READS = scenarios.filter(({ name }) => NAMES.includes(name))

export const layers: Measure = {
  name: 'layers',
  run: async bench => {
    const { world, strand } = await bench.ground()
    const results: Result[] = []
    for (const scenario of READS) {
      const prepared = await prepare(world, strand, scenario)
      const least = await bench.startLeast(prepared)
      const sides = [strand, least].map(server => loadOn(bench, server, prepared))
      const rounds = await inTurns(bench.plan.pace, sides)
      await least.stop()
      const [ours = 0, others = 0] = rounds.map(side => median(side.map(({ cost }) => cost)))
      results.push({
        work: `All layers, ${scenario.work}`,
        value: ours - others,
        unit: 'µs above the least server',
        details: `${ours.toFixed(1)} µs of ${others.toFixed(1)} µs`,
        atMost: MAX_MICROSECONDS,
      })
    }
    return results
  },
}
