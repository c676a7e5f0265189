import type { StrandNode } from '../cluster/strand-node.ts'
import { untilNodesAgree } from '../load/agreement.ts'
import { Caller } from '../load/caller.ts'
import { countInLogs } from './changes.ts'
import type { Fault } from './fault.ts'
import { atMost, inSeconds, noted, shown } from './findings.ts'

const LOST_CHANGES = 20
const POLL_SECONDS = 0.25
/** How many watch after the failover, and never did before. */
const NEW_COUNT = 70_000
const MAX_WAIT_MILLISECONDS = 20_000

/**
 * F15. With one standby always in step this cannot happen, so the rule is lifted first: the primary acknowledges writes
 * that no standby copies, is killed, and a standby that lacks them takes over. Their numbers in the feed are given again.
 */
export const forkedFeed: Fault = {
  name: 'forked-feed',
  what: 'the primary acknowledges without standbys, is killed, and a standby without its last writes is promoted',
  seconds: () => 20,
  strike: async ({ stage, world, pace }) => {
    const ground = { stage, world, pace }
    const { postgres, nodes, balancer } = stage
    const caller = new Caller(balancer.url)
    const changed = world.steady[0] ?? ''
    const report = (viewers: number) => {
      const body = { counts: { [changed]: viewers } }
      return caller.must('viewers', 'POST', '/control/viewers', { token: world.operatorToken, body })
    }
    const forksBefore = countInLogs(ground, 'has forked')
    const old = postgres.primary
    await untilNodesAgree(stage)
    await postgres.acknowledgeAlone()
    await postgres.detachStandbys()
    for (let number = 1; number <= LOST_CHANGES; number++) await report(50_000 + number)
    const before = await untilNodesAgree(stage)
    await old.kill()
    await postgres.failOver()
    const first = await answered(() => report(NEW_COUNT))
    const noticed = await Promise.all(nodes.map(node => untilItShows(node, changed)))
    const agreement = await untilNodesAgree(stage)
    const forks = countInLogs(ground, 'has forked') - forksBefore
    await postgres.rebuild(old)
    await postgres.untilInStep()
    return [
      noted(
        `nodes had applied ${LOST_CHANGES} changes that were then lost`,
        before.milliseconds === undefined ? 'no' : 'yes',
      ),
      noted('from the promotion to the first write', `${shown(first / 1000)} s`),
      noted(
        'from then until the last node has found the new primary',
        `${shown(Math.max(...noticed.map(each => each.found)) / 1000)} s`,
      ),
      {
        asked: 'nodes that detected the forked feed',
        measured: `${forks} of ${nodes.length}`,
        goal: 'all',
        verdict: forks >= nodes.length ? 'held' : 'broken',
      },
      atMost(
        'from finding the new primary until a node serves the new history, slowest of four',
        inSeconds(Math.max(...noticed.map(each => each.shows))),
        2 * POLL_SECONDS,
        ' s',
      ),
      atMost('time until every node agrees with the store', inSeconds(agreement.milliseconds), 5, ' s'),
    ]
  },
}

/**
 * How long it takes until a node has found the new primary, and from then on until it shows the first change of the new
 * history, in milliseconds.
 */
async function untilItShows(node: StrandNode, id: string): Promise<{ found: number; shows: number }> {
  const caller = new Caller(node.url)
  const began = performance.now()
  const passed = () => performance.now() - began
  let found: number | undefined
  while (passed() < MAX_WAIT_MILLISECONDS) {
    if (found === undefined && (await node.isReady())) found = passed()
    const { body } = await caller.ask('looking', 'GET', `/helix/streams?user_id=${id}`)
    if (body?.data[0]?.viewer_count === NEW_COUNT)
      return { found: found ?? passed(), shows: passed() - (found ?? passed()) }
    await Bun.sleep(10)
  }
  return { found: found ?? passed(), shows: Number.POSITIVE_INFINITY }
}

/** Tries until it works; gives how long that took, in milliseconds. */
async function answered(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  for (;;) {
    try {
      await work()
      return performance.now() - began
    } catch (error) {
      if (performance.now() - began > 60_000) throw error
      await Bun.sleep(20)
    }
  }
}
