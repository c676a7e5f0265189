import { type Fault, underLoad } from './fault.ts'
import { atMost, longestSilence, usualFindings } from './findings.ts'

const BESIDE_EACH_OTHER_MILLISECONDS = 5000

/**
 * F8, as it must not be done: a standby is promoted while the old primary lives on and every node still
 * reaches it. It cannot acknowledge writes, for no standby copies them any more; but it answers reads.
 */
export const failoverUnfenced: Fault = {
  name: 'failover-unfenced',
  what: 'a standby is promoted while the old primary keeps running, and both can be reached',
  seconds: pace => 10 + 7 * pace.rounds,
  strike: async ground => {
    const { postgres } = ground.stage
    const rounds: [from: number, to: number][] = []
    const recorded = await underLoad(ground, async () => {
      for (let round = 0; round < ground.pace.rounds; round++) {
        const old = postgres.primary
        const from = performance.now()
        await postgres.failOver()
        await Bun.sleep(BESIDE_EACH_OTHER_MILLISECONDS)
        rounds.push([from, performance.now()])
        await postgres.rebuild(old)
        await postgres.untilInStep()
      }
    })
    const silences = rounds.map(([from, to]) => longestSilence(recorded.asked, 'update', from, to))
    return [
      atMost(`longest time without a write, in ${rounds.length} failovers`, Math.max(...silences), 12, ' s'),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
