/** The same work in a small world and in the one of the run: whether it gets slower because there is more of everything. */
import type { Measure } from '../bench.ts'
import { scenarios } from '../scenarios/index.ts'
import { SMALLEST, secondsToMake } from '../world/world.ts'
import { prepare } from './prepare.ts'
import { compareCosts, inTurns, loadOn, type Side, secondsOfTurns } from './rounds.ts'

const GROWING = scenarios.filter(each => each.grows)

export const growth: Measure = {
  name: 'growth',
  block: 'others',
  seconds: ({ size, pace }) => secondsToMake(size) + GROWING.length * secondsOfTurns(pace, 2),
  run: async bench => {
    // Both are just started: a server that has worked for minutes is not like a fresh one.
    const large = await bench.inhabit(await bench.makeWorld('growth-large', bench.plan.size))
    const small = await bench.inhabit(await bench.makeWorld('growth-small', SMALLEST))
    const results = []
    for (const scenario of GROWING) {
      const sides: Side[] = []
      for (const { world, strand } of [large, small])
        sides.push(loadOn(bench, strand, await prepare(world, strand, scenario), 0.7))
      const [inLarge = [], inSmall = []] = await inTurns(bench.plan.pace, sides)
      const result = compareCosts(scenario.work, inLarge, inSmall, 'of the smallest world')
      results.push({ ...result, work: `${scenario.work}, growth`, atLeast: 0.9 })
    }
    await Promise.all([large.strand.stop(), small.strand.stop()])
    return results
  },
}
