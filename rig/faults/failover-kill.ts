import { type Fault, underLoad } from './fault.ts'
import { atMost, firstSuccess, longestSilence, noted, shown, usualFindings } from './findings.ts'

const OUTAGE_MILLISECONDS = 12_000

/** F8 */
export const failoverKill: Fault = {
  name: 'failover-kill',
  what: 'the primary and all its processes are killed, a standby is promoted, the old one is rebuilt from it',
  seconds: () => 30,
  strike: async ground => {
    const { postgres } = ground.stage
    let [killed, over, tookToPromote] = [0, 0, 0]
    const recorded = await underLoad(ground, async () => {
      const old = postgres.primary
      killed = performance.now()
      await old.kill()
      tookToPromote = await postgres.failOver()
      await Bun.sleep(OUTAGE_MILLISECONDS - (performance.now() - killed))
      over = performance.now()
      await postgres.rebuild(old)
      await postgres.untilInStep()
    })
    return [
      noted('time the rig needs to promote a standby', `${shown(tookToPromote / 1000)} s`),
      atMost(
        'longest time without a write',
        longestSilence(recorded.asked, 'update', killed, over),
        12,
        ' s',
      ),
      atMost(
        'from the promotion to a write',
        firstSuccess(recorded.asked, 'update', killed + tookToPromote),
        5,
        ' s',
      ),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
