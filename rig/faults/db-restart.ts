import { type Fault, underLoad } from './fault.ts'
import { atMost, longestSilence, usualFindings } from './findings.ts'

const REST_MILLISECONDS = 3000

/** F7 */
export const dbRestart: Fault = {
  name: 'db-restart',
  what: 'the primary is stopped in the middle of everything and started again',
  seconds: pace => 12 + 5 * pace.rounds,
  strike: async ground => {
    const { postgres } = ground.stage
    const outages: [from: number, to: number][] = []
    const recorded = await underLoad(ground, async () => {
      for (let round = 0; round < ground.pace.rounds; round++) {
        const from = performance.now()
        await postgres.primary.stop('immediate')
        await postgres.primary.start()
        await Bun.sleep(REST_MILLISECONDS)
        outages.push([from, performance.now()])
      }
      await postgres.untilInStep()
    })
    const silences = outages.map(([from, to]) => longestSilence(recorded.asked, 'update', from, to))
    return [
      atMost(`longest time without a write, of ${outages.length} restarts`, Math.max(...silences), 5, ' s'),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
