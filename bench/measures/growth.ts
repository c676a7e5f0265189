/** The same work in a small world and in the one of the run: whether it gets slower because there is more of everything. */
import type { Measure, Result } from '../bench.ts'
import { loadOn } from '../load/wrk.ts'
import { scenarios } from '../scenarios.ts'
import { SMALLEST } from '../world/world.ts'
import { compareCosts, inTurns, prepare } from './compare.ts'

const GROWING = scenarios.filter(each => each.grows)

export const growth: Measure = {
  name: 'growth',
  run: async bench => {
    // Both are just started: a server that has worked for minutes is not like a fresh one.
    const large = await bench.inhabit(await bench.makeWorld('growth-large', bench.plan.size))
    const small = await bench.inhabit(await bench.makeWorld('growth-small', SMALLEST))
    const results: Result[] = []
    for (const scenario of GROWING) {
      const sides = []
      for (const { world, strand } of [large, small])
        sides.push(loadOn(bench, strand, await prepare(world, strand, scenario)))
      const [inLarge = [], inSmall = []] = await inTurns(bench.plan.pace, sides)
      const work = `${scenario.work}, growth`
      results.push({ ...compareCosts(work, inLarge, inSmall, 'of the smallest world'), atLeast: 0.9 })
    }
    await Promise.all([large.strand.stop(), small.strand.stop()])
    return results
  },
}
