import { judge } from '../judge/judge.ts'
import { type Fault, underLoad } from './fault.ts'

const CARELESS_MILLISECONDS = 2000

/**
 * A control: a judge that never finds anything might be blind. Here the primary acknowledges writes that no standby has, and
 * is killed; they are lost, and it must be seen.
 */
export const carelessFailover: Fault = {
  name: 'careless-failover',
  what: 'a control: writes are acknowledged without standbys and then lost on purpose; the judge must detect it',
  seconds: () => 20,
  strike: async ground => {
    const { postgres } = ground.stage
    const recorded = await underLoad(ground, async () => {
      const old = postgres.primary
      await postgres.acknowledgeAlone()
      await postgres.detachStandbys()
      await Bun.sleep(CARELESS_MILLISECONDS)
      await old.kill()
      await postgres.failOver()
      await postgres.rebuild(old)
      await postgres.untilInStep()
    })
    const { impossible } = judge(recorded.operations, recorded.groups)
    const { acknowledged, lost } = recorded.markers
    return [
      {
        asked: 'planted losses detected by the judge',
        measured: `no valid order for ${impossible.length} of ${recorded.groups.length} groups; ${lost} of ${acknowledged} markers lost`,
        goal: 'both detected',
        verdict: impossible.length > 0 && lost > 0 ? 'held' : 'broken',
      },
    ]
  },
}
