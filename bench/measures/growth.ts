/** The same work in a small world and in the one of the run: whether it gets slower because there is more of everything. */
import type { Measure } from '../bench.ts'
import { scenarios } from '../scenarios/index.ts'
import { SMALLEST, secondsToMake } from '../world/world.ts'
import { compareServers, secondsOfTurns } from './rounds.ts'

const GROWING = scenarios.filter(each => each.grows)

export const growth: Measure = {
  name: 'growth',
  seconds: ({ size, pace }) => secondsToMake(size) + GROWING.length * secondsOfTurns(pace, 2),
  run: async bench => {
    // Both are just started: a server that has worked for minutes is not like a fresh one.
    const large = await bench.inhabit(await bench.makeWorld('growth-large', bench.plan.size))
    const small = await bench.inhabit(await bench.makeWorld('growth-small', SMALLEST))
    const ratios = await compareServers(bench, GROWING, [large, small], 'perSecond', 'the smallest world')
    return ratios.map(ratio => ({ ...ratio, work: `${ratio.work}, growth`, atLeast: 0.9 }))
  },
}
