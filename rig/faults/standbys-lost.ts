import { Caller, outcomeOf } from '../load/caller.ts'
import { updateGroup } from '../load/entitlement-load.ts'
import { POOL } from '../stage.ts'
import { type EntitlementGroup, grantGroups } from '../world.ts'
import { type Fault, underLoad } from './fault.ts'
import {
  atMost,
  between,
  DEADLINE_SECONDS,
  firstSuccess,
  longestWait,
  shown,
  usualFindings,
} from './findings.ts'

/** A write that was under way when the second standby went may still have been copied by it. */
const LAST_COPIES_MILLISECONDS = 500

/** Before the callers of those writes have an answer. */
const CANCEL_AFTER_MILLISECONDS = 1000

/** Writers beside the usual ones, so that there are more than connections. */
const CROWD = 60
const CROWD_GROUPS = 10

/** F9 */
export const standbysLost: Fault = {
  name: 'standbys-lost',
  what: 'both standbys are stopped, more writers than connections arrive, and an administrator cancels the waiting ones; then one standby returns',
  seconds: pace => 20 + pace.seconds,
  strike: async ground => {
    const { postgres, nodes, balancer } = ground.stage
    const crowd = new Caller(balancer.url)
    const groups = await grantGroups(crowd, ground.world, CROWD_GROUPS)
    let [lost, returning, back, waiting, cancelled] = [0, 0, 0, 0, 0]
    const recorded = await underLoad(ground, async () => {
      const [first, second] = postgres.standbys
      await Promise.all([first?.stop('fast'), second?.stop('fast')])
      lost = performance.now()
      const asking = Array.from({ length: CROWD }, (_, number) =>
        updateGroup(crowd, ground.world, groups[number % CROWD_GROUPS] as EntitlementGroup, {
          process: `crowd ${number}`,
          status: 'FULFILLED',
        }),
      )
      await Bun.sleep(CANCEL_AFTER_MILLISECONDS)
      // PostgreSQL then reports success with a warning: a client that believes it acknowledges what no standby has.
      cancelled = (
        await postgres.primary.ask(
          `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
        )
      ).length
      await Bun.sleep(ground.pace.seconds * 1000 - CANCEL_AFTER_MILLISECONDS)
      const [row] = await postgres.primary.ask<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity where wait_event = 'SyncRep'`,
      )
      waiting = row?.waiting ?? 0
      // From here on the standby may copy, before it answers queries.
      returning = performance.now()
      await first?.start()
      back = performance.now()
      await Promise.all(asking)
      await Bun.sleep(5000)
      await second?.start()
      await postgres.untilInStep()
    })
    const all = [...recorded.asked, ...crowd.asked]
    const updates = between(all, 'update', lost + LAST_COPIES_MILLISECONDS, back)
    const acknowledged = updates.filter(
      each => outcomeOf(each) === 'ok' && each.invoked > lost && each.returned < returning,
    )
    const reads = between(recorded.asked, 'read', lost, back).filter(each => each.invoked > lost)
    const failedReads = reads.filter(each => outcomeOf(each) !== 'ok').length
    return [
      {
        asked: 'commits waiting for a standby that were cancelled by an administrator',
        measured: shown(cancelled),
        goal: 'at least 1',
        verdict: cancelled > 0 ? 'held' : 'broken',
      },
      atMost('writes acknowledged without a standby', acknowledged.length, 0),
      atMost(
        'longest response time of a write',
        longestWait(updates.filter(each => each.invoked > lost)),
        DEADLINE_SECONDS,
        ' s',
      ),
      atMost(`writes waiting in the database after ${ground.pace.seconds} s`, waiting, POOL * nodes.length),
      {
        asked: 'failed reads of entitlements during the fault',
        measured: `${failedReads} of ${shown(reads.length)}`,
        goal: '0',
        verdict: failedReads === 0 ? 'held' : 'broken',
      },
      atMost(
        'from the return of one standby to a write',
        firstSuccess(recorded.asked, 'update', back),
        5,
        ' s',
      ),
      ...usualFindings(recorded, ground.world),
    ]
  },
}
