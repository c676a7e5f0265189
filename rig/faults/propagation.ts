import { Caller } from '../load/caller.ts'
import { anyOf } from '../load/load.ts'
import { type Changes, changeViewers } from './changes.ts'
import type { Fault, Finding, Ground } from './fault.ts'
import { atMost, noted, shown } from './findings.ts'

const FEW: Changes = { perSecond: 150 }
const MANY: Changes = { perSecond: 1500, together: 30 }
const LOOK_MILLISECONDS = 10
const MAX_WAIT_MILLISECONDS = 10_000
const REST_MILLISECONDS = 150
const POLL_MILLISECONDS = 250

/** L5 */
export const propagation: Fault = {
  name: 'propagation',
  what: 'a stream changes through one node and is observed on the other three, among many other changes',
  seconds: pace => 3 + 2 * pace.seconds,
  strike: async ground => [...(await watchAmong(ground, FEW)), ...(await watchAmong(ground, MANY))],
}

async function watchAmong(ground: Ground, changes: Changes): Promise<Finding[]> {
  const { stage, world, pace } = ground
  const end = performance.now() + pace.seconds * 1000
  const goOn = () => performance.now() < end
  const times: number[] = []
  const watching = async () => {
    for (let title = 1; goOn(); title++) {
      times.push(await untilShownEverywhere(anyOf(world.marking).id, `title ${title}`))
      await Bun.sleep(REST_MILLISECONDS)
    }
  }
  const untilShownEverywhere = async (id: string, title: string): Promise<number> => {
    const first = anyOf(stage.nodes)
    const body = { title }
    const token = world.operatorToken
    await new Caller(first.url).must('looking', 'PATCH', `/control/channels/${id}`, { token, body })
    const committed = performance.now()
    const untilShown = async (url: string) => {
      const caller = new Caller(url)
      while (performance.now() - committed < MAX_WAIT_MILLISECONDS) {
        const { body } = await caller.ask('looking', 'GET', `/helix/streams?user_id=${id}`)
        if (body?.data[0]?.title === title) return
        await Bun.sleep(LOOK_MILLISECONDS)
      }
    }
    await Promise.all(stage.nodes.map(node => untilShown(node.url)))
    return performance.now() - committed
  }
  const [perSecond] = await Promise.all([changeViewers(ground, changes, goOn), watching()])
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]
  const name = `among ${shown(changes.perSecond)} changes per second`
  return [
    noted(
      `${name}: load`,
      `${times.length} changes observed among ${shown(perSecond)} per second, ${changes.together ?? 1} per report`,
    ),
    atMost(
      `${name}: from the response until all four nodes show the change, p50`,
      at(0.5),
      POLL_MILLISECONDS / 2 + 10,
      ' ms',
    ),
    atMost(`${name}: the same, p99`, at(0.99), 1000, ' ms'),
  ]
}
