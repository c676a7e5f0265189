/**
 * What the layers above the statement of a handler cost together: the difference in processor time between Strand and the
 * least server, which has none of them. A loop around each layer alone explains less than half of it.
 */
import type { Measure, Result } from '../bench.ts'
import { scenarios } from '../scenarios.ts'
import { scenarioMeasure } from './compare.ts'

const MAX_MICROSECONDS = 21
/** Short answers, of which the layers are most. */
const READS = scenarios.filter(({ name }) => /^get-(drops-entitlements-by-id|stream-key)$/.test(name))

export const layers: Measure = {
  name: 'layers',
  run: async bench => {
    const results: Result[] = []
    for (const scenario of READS) {
      const [compared] = await scenarioMeasure({ ...scenario, goals: { least: undefined } }).run(bench)
      const [ours = Number.NaN, others = Number.NaN] = [compared?.strand?.cost, compared?.against?.cost]
      const details = `${ours.toFixed(1)} µs of ${others.toFixed(1)} µs`
      const [work, unit] = [`All layers, ${scenario.work}`, 'µs above the least server']
      results.push({ work, unit, value: ours - others, atMost: MAX_MICROSECONDS, details })
    }
    return results
  },
}
