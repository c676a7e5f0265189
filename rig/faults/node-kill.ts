import { changeViewers, countInLogs } from './changes.ts'
import { type Fault, underLoad } from './fault.ts'
import { atMost, noted, shown, usualFindings } from './findings.ts'

const CHANGES_PER_SECOND = 200

/** F14 */
export const nodeKill: Fault = {
  name: 'node-kill',
  what: 'one node after the other is killed and started again, while streams change',
  seconds: pace => 10 + 6 * Math.min(4, pace.rounds),
  strike: async ground => {
    const { nodes } = ground.stage
    const starts: number[] = []
    const gaps = countInLogs(ground, 'has a gap')
    let perSecond = 0
    const recorded = await underLoad(ground, async () => {
      let changing = true
      const changes = changeViewers(ground, { perSecond: CHANGES_PER_SECOND }, () => changing)
      for (const node of nodes.slice(0, ground.pace.rounds)) {
        await node.kill()
        await Bun.sleep(1000)
        starts.push(await node.start())
        await Bun.sleep(1000)
      }
      changing = false
      perSecond = await changes
    })
    // The balancer had given requests to the node that are without an answer now: nothing else may go wrong.
    return [
      noted('changes per second', shown(perSecond)),
      atMost(`longest start until ready, in ${starts.length} starts`, Math.max(...starts) / 1000, 5, ' s'),
      atMost('gaps in the feed', countInLogs(ground, 'has a gap') - gaps, 0),
      ...usualFindings(recorded, ground.world).map(each =>
        each.asked.startsWith('failures') || each.asked.startsWith('directory')
          ? { ...each, goal: 'requests in progress on the killed node', verdict: 'noted' as const }
          : each,
      ),
    ]
  },
}
