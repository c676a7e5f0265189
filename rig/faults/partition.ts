import type { Passage } from '../cluster/database-link.ts'
import { Caller, outcomeOf } from '../load/caller.ts'
import { updateGroup } from '../load/entitlement-load.ts'
import { type EntitlementGroup, grantGroups } from '../world.ts'
import { type Fault, type Finding, type Ground, underLoad } from './fault.ts'
import { atMost, DEADLINE_SECONDS, inSeconds, longestWait, usualFindings } from './findings.ts'

const PROBES = 3

/** F11. The wire is a program in between that stops passing bytes on: no packet filter is needed. */
export const partition: Fault = {
  name: 'partition',
  what: 'packets between one node and the database are dropped; then only the responses are dropped',
  seconds: pace => 2 * (14 + pace.seconds),
  strike: async ground => [
    ...(await cutOff(ground, 'cut', 'both ways')),
    ...(await cutOff(ground, 'answers cut', 'responses only')),
  ],
}

async function cutOff(ground: Ground, passage: Passage, name: string): Promise<Finding[]> {
  const { stage, world, pace } = ground
  const node = stage.nodes[1]
  if (node === undefined) throw new Error('there are four nodes')
  const direct = new Caller(node.url)
  const [group] = (await grantGroups(new Caller(stage.balancer.url), world, 1)) as [EntitlementGroup]
  let notReadyAfter: number | undefined
  let healedAfter: number | undefined
  let saysHowStale = false
  const recorded = await underLoad(ground, async () => {
    stage.wire(node, passage)
    const cut = performance.now()
    const end = cut + pace.seconds * 1000
    const probing = Array.from({ length: PROBES }, async (_, number) => {
      while (performance.now() < end) {
        await updateGroup(direct, world, group, { process: `probe ${number}`, status: 'FULFILLED' })
        await direct.ask('directory', 'GET', '/helix/streams?first=1')
        await Bun.sleep(100)
      }
    })
    while (performance.now() < end) {
      if (notReadyAfter === undefined && !(await node.isReady())) notReadyAfter = performance.now() - cut
      await Bun.sleep(100)
    }
    const result = await direct.ask('looking', 'GET', '/readyz')
    saysHowStale = result.body?.stale_seconds !== undefined
    stage.wire(node, 'open')
    const healed = performance.now()
    const deadline = healed + 20_000
    const caller = new Caller(node.url)
    while (healedAfter === undefined && performance.now() < deadline) {
      const write = await updateGroup(caller, world, group, { process: 'after', status: 'CLAIMED' })
      if (write.outcome === 'ok') healedAfter = performance.now() - healed
      else await Bun.sleep(50)
    }
    await Promise.all(probing)
  })
  const shown = direct.asked.filter(each => each.work === 'directory')
  const silent = shown.filter(each => outcomeOf(each) !== 'ok').length
  return [
    atMost(`${name}: longest response time of the node`, longestWait(direct.asked), DEADLINE_SECONDS, ' s'),
    atMost(`${name}: time until /readyz responds 503`, inSeconds(notReadyAfter), 3, ' s'),
    {
      asked: `${name}: /readyz reports the age of the data as stale_seconds`,
      measured: saysHowStale ? 'yes' : 'no',
      goal: 'yes',
      verdict: saysHowStale ? 'held' : 'broken',
    },
    atMost(`${name}: failed directory reads of the node, of ${shown.length}`, silent, 0),
    atMost(`${name}: from the repair to a write of the node`, inSeconds(healedAfter), 5, ' s'),
    ...usualFindings(recorded, world).map(each => ({ ...each, asked: `${name}: ${each.asked}` })),
  ]
}
