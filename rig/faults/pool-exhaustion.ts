import { Caller, outcomeOf, type Work } from '../load/caller.ts'
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
  noted,
  percentile,
  shown,
  usualFindings,
} from './findings.ts'

const HELD_MILLISECONDS = { quick: 8000, usual: 20_000 } as const
const OTHER_WRITES: readonly Work[] = ['update', 'marker', 'stream']
const AFTERWARDS_MILLISECONDS = 3000
const MAX_WAIT_MILLISECONDS = 30_000
/** Each node has one more for the feed, one for rate limits, and one over which it asks the server who it is. */
const MAX_CONNECTIONS = POOL + 3

/** F10, F29 */
export const poolExhaustion: Fault = {
  name: 'pool-exhaustion',
  what: 'another connection holds the locks of a hundred entitlements while hundreds of clients try to write them',
  seconds: pace => 22 + HELD_MILLISECONDS[pace.name] / 1000,
  strike: async ground => {
    const { stage, world, pace } = ground
    const clients = pace.name === 'quick' ? 100 : 500
    const crowd = new Caller(stage.balancer.url)
    const [group] = (await grantGroups(crowd, world, 1)) as [EntitlementGroup]
    let [began, held, released, connections] = [0, 0, 0, 0]
    const recorded = await underLoad(ground, async load => {
      began = performance.now()
      await Bun.sleep(3000)
      const holder = stage.postgres.primary.connect()
      const ids = group.ids.map(id => `'${id}'`).join()
      await holder.unsafe('begin')
      await holder.unsafe(
        `select id from organization_entitlements where id in (${ids}) order by id for update`,
      )
      held = performance.now()
      const asking = Array.from({ length: clients }, (_, number) =>
        updateGroup(crowd, world, group, { process: `crowd ${number}`, status: 'FULFILLED' }),
      )
      await Bun.sleep(HELD_MILLISECONDS[pace.name])
      released = performance.now()
      await holder.unsafe('rollback')
      await holder.close()
      await Promise.all(asking)
      const deadline = released + MAX_WAIT_MILLISECONDS
      while (
        firstSuccess(load.caller.asked, 'update', released) === undefined &&
        performance.now() < deadline
      )
        await Bun.sleep(100)
      await Bun.sleep(AFTERWARDS_MILLISECONDS)
      const [row] = await stage.postgres.primary.ask<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = 'strand' and pid <> pg_backend_pid()`,
      )
      connections = row?.count ?? 0
    })
    const own = crowd.asked.filter(each => each.work === 'update')
    const answers = [...Map.groupBy(own, each => each.status)].map(
      ([status, all]) => `${all.length} × ${status}`,
    )
    const before = percentile(between(recorded.asked, 'directory', began, held), 0.99)
    const meanwhile = percentile(between(recorded.asked, 'directory', held, released), 0.99)
    // Those of the load are about other rows.
    const others = OTHER_WRITES.flatMap(work => between(recorded.asked, work, held, released))
    const succeeded = others.filter(each => outcomeOf(each) === 'ok').length
    return [
      {
        asked: `other writes that succeed meanwhile, of ${shown(others.length)}`,
        measured: `${shown((100 * succeeded) / others.length)} %`,
        goal: 'at least 95 %',
        verdict: succeeded >= 0.95 * others.length && others.length > 0 ? 'held' : 'broken',
        isOfSpeed: true,
      },
      noted(`responses to ${shown(clients)} writers`, answers.join(', ')),
      atMost('longest response time of a writer of these rows', longestWait(own), DEADLINE_SECONDS, ' s'),
      {
        asked: 'p99 of directory reads, before and during the fault',
        measured: `${shown(before)} ms, ${shown(meanwhile)} ms`,
        goal: 'less than twice',
        verdict: meanwhile < 2 * before ? 'held' : 'broken',
        isOfSpeed: true,
      },
      atMost('from the release to a write', firstSuccess(recorded.asked, 'update', released), 2, ' s'),
      atMost('connections to the database afterwards', connections, MAX_CONNECTIONS * stage.nodes.length),
      ...usualFindings(recorded, world),
    ]
  },
}
