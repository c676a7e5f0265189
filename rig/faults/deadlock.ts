import { judge } from '../judge/judge.ts'
import type { Operation } from '../judge/operation.ts'
import { Caller, outcomeOf } from '../load/caller.ts'
import { readGroup, updateGroup } from '../load/entitlement-load.ts'
import type { Stage } from '../stage.ts'
import { type EntitlementGroup, grantGroups } from '../world.ts'
import type { Fault } from './fault.ts'
import { atMost, shown } from './findings.ts'

const CLIENTS = 4

/** F17 */
export const deadlock: Fault = {
  name: 'deadlock',
  what: 'clients write the same hundred entitlements in opposite orders at the same time',
  seconds: pace => 4 + pace.seconds,
  strike: async ({ stage, world, pace }) => {
    const caller = new Caller(stage.balancer.url)
    const [group] = (await grantGroups(caller, world, 1)) as [EntitlementGroup]
    const orders = [group.ids, group.ids.toReversed()]
    const history: Operation[] = []
    const before = await deadlocksOf(stage)
    const end = performance.now() + pace.seconds * 1000
    const client = async (number: number) => {
      const ids = orders[number % 2] ?? group.ids
      const status = number % 2 === 0 ? 'FULFILLED' : 'CLAIMED'
      while (performance.now() < end) {
        history.push(await updateGroup(caller, world, group, { process: `client ${number}`, status, ids }))
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
    history.push(await readGroup(caller, world, group, 'the last look'))
    // The database counts them a moment later.
    await Bun.sleep(1500)
    const deadlocks = (await deadlocksOf(stage)) - before
    const { impossible, torn } = judge(history, [group])
    const updates = caller.asked.filter(each => each.work === 'update')
    const failed = updates.filter(each => outcomeOf(each) !== 'ok').length
    return [
      atMost(`deadlocks counted by the database, in ${shown(updates.length)} batches`, deadlocks, 0),
      atMost('failed batches', failed, 0),
      atMost('groups without a valid order, and torn reads', impossible.length + torn, 0),
    ]
  },
}

async function deadlocksOf({ postgres }: Stage): Promise<number> {
  const [row] = await postgres.primary.ask<{ deadlocks: number }>(
    `select deadlocks::int as deadlocks from pg_stat_database where datname = 'strand'`,
  )
  return row?.deadlocks ?? 0
}
