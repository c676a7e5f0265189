import { Caller } from '../load/caller.ts'
import { anyOf } from '../load/load.ts'
import type { Ground } from './fault.ts'

const MAX_UNDER_WAY = 100

/** How many streams get other viewer counts in a second, and how many of them in one report. */
export interface Changes {
  readonly perSecond: number
  readonly together?: number
}

/** Changes of the directory, about so many a second. Gives how many were acknowledged in a second. */
export async function changeViewers(
  { stage, world }: Ground,
  { perSecond, together = 1 }: Changes,
  goOn: () => boolean,
): Promise<number> {
  const caller = new Caller(stage.balancer.url)
  const { operatorToken: token, steady } = world
  const began = performance.now()
  const underWay = new Set<Promise<unknown>>()
  let asked = 0
  while (goOn()) {
    // No caller waits for an answer, unless too many do: a server that hangs must not end the changes.
    while (
      underWay.size < MAX_UNDER_WAY &&
      asked * together < ((performance.now() - began) * perSecond) / 1000
    ) {
      const from = asked * together
      const counts = Object.fromEntries(
        Array.from({ length: together }, (_, index) => [
          together === 1 ? anyOf(steady) : steady[(from + index) % steady.length],
          Math.floor(Math.random() * 10_000),
        ]),
      )
      const asking = caller.ask('viewers', 'POST', '/control/viewers', { token, body: { counts } })
      underWay.add(asking)
      void asking.finally(() => underWay.delete(asking))
      asked++
    }
    await Bun.sleep(5)
  }
  const seconds = (performance.now() - began) / 1000
  await Promise.all(underWay)
  return (together * caller.asked.filter(each => each.status === 204).length) / seconds
}

/** How often the nodes have logged something. */
export function countInLogs({ stage }: Ground, words: string): number {
  return stage.nodes.reduce((sum, node) => sum + node.log().split(words).length - 1, 0)
}
