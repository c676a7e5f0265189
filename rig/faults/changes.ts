import { Caller } from '../load/caller.ts'
import { anyOf } from '../load/load.ts'
import type { Ground } from './fault.ts'

const CALLERS = 8

/** Changes of the directory, one stream each, about so many a second. Gives how many were acknowledged in a second. */
export async function changeViewers(
  { stage, world }: Ground,
  perSecond: number,
  goOn: () => boolean,
): Promise<number> {
  const caller = new Caller(stage.balancer.url)
  const { operatorToken: token, steady } = world
  const began = performance.now()
  let asked = 0
  const change = async () => {
    while (goOn()) {
      const due = began + (asked++ * 1000) / perSecond
      await Bun.sleep(Math.max(0, due - performance.now()))
      const counts = { [anyOf(steady)]: Math.floor(Math.random() * 10_000) }
      await caller.ask('viewers', 'POST', '/control/viewers', { token, body: { counts } })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, change))
  const acknowledged = caller.asked.filter(each => each.status === 204).length
  return acknowledged / ((performance.now() - began) / 1000)
}

/** How often the nodes have said something in their logs. */
export function countInLogs({ stage }: Ground, words: string): number {
  return stage.nodes.reduce((sum, node) => sum + node.log().split(words).length - 1, 0)
}
