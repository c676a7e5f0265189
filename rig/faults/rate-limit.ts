import { Caller } from '../load/caller.ts'
import { USER_RATE } from '../stage.ts'
import type { Fault } from './fault.ts'
import { noted, shown } from './findings.ts'

const TIMES = 10
const ASKERS = 8
/** In less time the client does not ask for more than a full bucket holds. */
const LEAST_SECONDS = 12

/** L8. A full bucket and what flows into it in the time is all that may be taken out, however many nodes there are. */
export const rateLimit: Fault = {
  name: 'rate-limit',
  what: 'one client asks ten times as often as it may, each request at another node',
  seconds: pace => 2 + Math.max(LEAST_SECONDS, pace.seconds),
  strike: async ({ stage, world, pace }) => {
    const caller = new Caller(stage.balancer.url)
    const { id, token } = world.greedy
    const began = performance.now()
    const end = began + Math.max(LEAST_SECONDS, pace.seconds) * 1000
    let asked = 0
    const asker = async () => {
      while (performance.now() < end) {
        await Bun.sleep(Math.max(0, began + (asked++ * 60_000) / (USER_RATE * TIMES) - performance.now()))
        await caller.ask('limited', 'GET', `/helix/streams/key?broadcaster_id=${id}`, { token })
      }
    }
    await Promise.all(Array.from({ length: ASKERS }, asker))
    const seconds = (performance.now() - began) / 1000
    const admitted = caller.asked.filter(each => each.status === 200).length
    const allowed = Math.floor(USER_RATE + (USER_RATE * seconds) / 60)
    const others = caller.asked.filter(each => each.status !== 200 && each.status !== 429).length
    return [
      noted('what happened', `${shown(asked)} requests in ${shown(seconds)} s, limit ${USER_RATE} a minute`),
      {
        asked: 'requests that were let through',
        measured: shown(admitted),
        goal: `at most ${shown(allowed)}, at least nine tenths of that`,
        verdict: admitted <= allowed && admitted >= 0.9 * allowed ? 'held' : 'broken',
      },
      {
        asked: 'answers that were neither 200 nor 429',
        measured: String(others),
        goal: '0',
        verdict: others === 0 ? 'held' : 'broken',
      },
    ]
  },
}
