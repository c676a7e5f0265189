import { outcomeOf } from '../load/caller.ts'
import { type Fault, underLoad } from './fault.ts'
import { atMost, listOfKinds, shown, usualFindings } from './findings.ts'

/** F19 */
export const rollingRestart: Fault = {
  name: 'rolling-restart',
  what: 'one node after the other is asked to stop with SIGTERM and started again, in rounds',
  seconds: pace => 10 + 6 * pace.rounds,
  strike: async ground => {
    const { nodes } = ground.stage
    let [stops, unclean] = [0, 0]
    const recorded = await underLoad(ground, async () => {
      for (let round = 0; round < ground.pace.rounds; round++) {
        for (const node of nodes) {
          stops++
          if ((await node.stop()) !== 0) unclean++
          await node.start()
        }
      }
    })
    const failed = recorded.asked.filter(each => outcomeOf(each) !== 'ok')
    const list = listOfKinds(failed)
    return [
      {
        asked: `failed requests through the balancer, in ${stops} stops`,
        measured: `${failed.length} of ${shown(recorded.asked.length)}${list && ` (${list})`}`,
        goal: '0',
        verdict: failed.length === 0 ? 'held' : 'broken',
      },
      atMost('nodes that did not exit with code 0', unclean, 0),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
