import { directoryOf } from '../load/agreement.ts'
import { changeViewers, countInLogs } from './changes.ts'
import { type Fault, underLoad } from './fault.ts'
import { atMost, inSeconds, noted, shown, usualFindings } from './findings.ts'

const CHANGES_PER_SECOND = 200
const MAX_WAIT_MILLISECONDS = 20_000

/** F14 */
export const nodePause: Fault = {
  name: 'node-pause',
  what: 'a node is paused for the duration of the fault, while streams change, and then resumes',
  seconds: pace => 20 + pace.seconds,
  strike: async ground => {
    const { stage, pace } = ground
    const [node, other] = stage.nodes
    if (node === undefined || other === undefined) throw new Error('there are four nodes')
    const gaps = countInLogs(ground, 'has a gap')
    let perSecond = 0
    let caughtUp: number | undefined
    const recorded = await underLoad(ground, async () => {
      node.pause()
      const end = performance.now() + pace.seconds * 1000
      perSecond = await changeViewers(
        ground,
        { perSecond: CHANGES_PER_SECOND },
        () => performance.now() < end,
      )
      node.resume()
      const resumed = performance.now()
      // The others go on changing: a node has caught up when it shows what another one shows at the same time.
      while (caughtUp === undefined && performance.now() - resumed < MAX_WAIT_MILLISECONDS) {
        const [own, theirs] = await Promise.all([directoryOf(node.url), directoryOf(other.url)])
        if (differences(own, theirs) < 100) caughtUp = performance.now() - resumed
        else await Bun.sleep(50)
      }
    })
    return [
      noted(`changes per second, during ${pace.seconds} s`, shown(perSecond)),
      atMost('from resuming until it agrees with another node', inSeconds(caughtUp), 5, ' s'),
      atMost('gaps in the feed', countInLogs(ground, 'has a gap') - gaps, 0),
      ...usualFindings(recorded, ground.world).map(each =>
        each.asked.startsWith('failures') || each.asked.startsWith('directory')
          ? { ...each, goal: 'requests in progress on the paused node', verdict: 'noted' as const }
          : each,
      ),
    ]
  },
}

/** Streams that two directories show differently. Reports of viewers change fifty at once. */
function differences(one: string, other: string): number {
  const known = new Set(one.split(','))
  return other.split(',').filter(each => !known.has(each)).length
}
