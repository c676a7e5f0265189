import { type Fault, underLoad } from './fault.ts'
import { atMost, firstSuccess, longestSilence, noted, shown, usualFindings } from './findings.ts'

const REST_MILLISECONDS = 3000

/** F7 */
export const dbRestart: Fault = {
  name: 'db-restart',
  what: 'the primary is stopped under load and started again',
  seconds: pace => 12 + 5 * pace.rounds,
  strike: async ground => {
    const { postgres } = ground.stage
    const outages: { from: number; answers: number; to: number }[] = []
    const recorded = await underLoad(ground, async () => {
      for (let round = 0; round < ground.pace.rounds; round++) {
        const from = performance.now()
        await postgres.primary.stop('immediate')
        await postgres.primary.start()
        const answers = performance.now()
        await Bun.sleep(REST_MILLISECONDS)
        outages.push({ from, answers, to: performance.now() })
      }
      await postgres.untilInStep()
    })
    const { asked } = recorded
    const away = outages.map(({ from, answers }) => (answers - from) / 1000)
    const silences = outages.map(({ from, to }) => longestSilence(asked, 'update', from, to))
    const returns = outages.map(
      ({ answers }) => firstSuccess(asked, 'update', answers) ?? Number.POSITIVE_INFINITY,
    )
    return [
      noted(
        `time until PostgreSQL responds again, in ${outages.length} restarts`,
        away.map(shown).join(', '),
      ),
      atMost('longest time without a write', Math.max(...silences), 5, ' s'),
      atMost('longest time from that response to a write', Math.max(...returns), 5, ' s'),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
