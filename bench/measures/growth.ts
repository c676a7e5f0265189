/** The same work in a small world and in the one of the run: whether it gets slower because there is more of everything. */
import type { Measure, Result } from '../bench.ts'
import { type LoadedServer, loadOn } from '../load/wrk.ts'
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
    const { length } = small.world.callers
    for (const scenario of GROWING) {
      const work = `${scenario.work}, growth`
      const sides: LoadedServer[] = []
      for (const inhabited of [large, small]) {
        const { world, strand } = inhabited
        // As many callers in both: what is stored grows.
        const sent = await prepare({ ...world, callers: world.callers.slice(0, length) }, strand, scenario)
        sides.push(loadOn(bench, strand, sent))
        if ('least' in scenario.goals)
          sides.push(loadOn(bench, await bench.startLeast(sent, inhabited), sent))
      }
      const rounds = await inTurns(bench.plan.pace, sides)
      const servers = sides.length / 2
      const growthOf = (server: number) =>
        compareCosts(work, rounds[server] ?? [], rounds[server + servers] ?? [], 'of the smallest world')
      results.push({ ...growthOf(0), atLeast: 0.9 })
      if (servers > 1) results.push({ ...growthOf(1), work: `${work} of the least server` })
    }
    await Promise.all([large.strand.stop(), small.strand.stop()])
    return results
  },
}
