import { Caller } from '../load/caller.ts'
import { USER_RATE } from '../stage.ts'
import type { TokenHolder } from '../world.ts'
import type { Fault, Ground } from './fault.ts'
import { atMost, noted, shown } from './findings.ts'

const GREED = 10
const MODESTY = 1 / 2
/** What the modest one asks for at once in the end: a bucket that was never used up holds four times as much. */
const BURST = USER_RATE / 4
const ASKERS = 8
/** In less time the greedy one does not ask for more than a full bucket holds, and the modest one not for half of it. */
const MIN_SECONDS = 12
const MIN_MODEST_SECONDS = 30

/**
 * L8. A full bucket, what flows into it in the time, and the documented allowance of each node are all that may be taken
 * out; and a caller below the limit never meets it.
 */
export const rateLimit: Fault = {
  name: 'rate-limit',
  what: 'one client sends ten times and another half as many requests as allowed, each to another node',
  seconds: pace => 2 + Math.max(MIN_MODEST_SECONDS, pace.seconds),
  strike: async ground => {
    const { stage, world, pace } = ground
    // At the same time: the greed of one must not cost the other a point.
    const [greedy, modest] = await Promise.all([
      askFor(ground, world.greedy, GREED, Math.max(MIN_SECONDS, pace.seconds)),
      askFor(ground, world.modest, MODESTY, Math.max(MIN_MODEST_SECONDS, pace.seconds)),
    ])
    const burst = await askAtOnce(ground, world.modest)
    const allowed = Math.floor(USER_RATE + (USER_RATE * greedy.seconds) / 60)
    const allowance = (stage.nodes.length * USER_RATE) / 20
    return [
      noted(
        'load',
        `limit ${USER_RATE} per minute; ${shown(greedy.asked)} requests in ${shown(greedy.seconds)} s, beside ${shown(modest.asked)} in ${shown(modest.seconds)} s`,
      ),
      atMost('requests granted at ten times the limit', greedy.admitted, Math.floor(allowed + allowance)),
      {
        asked: 'the same, as a share of the allowed number',
        measured: shown(greedy.admitted / allowed),
        goal: 'at least 0.9',
        verdict: greedy.admitted >= 0.9 * allowed ? 'held' : 'broken',
        isOfSpeed: true,
      },
      atMost(`requests rejected at half the limit, of ${modest.asked}`, modest.refused, 0),
      atMost(`requests rejected in a burst after that, of ${BURST}`, burst.refused, 0),
      atMost('responses other than 200 and 429', greedy.others + modest.others + burst.others, 0),
    ]
  },
}

/** Asks for a stream key so many times as often as the limit allows. */
async function askFor({ stage }: Ground, holder: TokenHolder, times: number, seconds: number) {
  const caller = new Caller(stage.balancer.url)
  const began = performance.now()
  const end = began + seconds * 1000
  let asked = 0
  const requester = async () => {
    for (;;) {
      const due = began + (asked++ * 60_000) / (USER_RATE * times)
      if (due > end) return
      await Bun.sleep(Math.max(0, due - performance.now()))
      await askForKey(caller, holder)
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, requester))
  return { ...tally(caller), seconds: (performance.now() - began) / 1000 }
}

async function askAtOnce({ stage }: Ground, holder: TokenHolder) {
  const caller = new Caller(stage.balancer.url)
  await Promise.all(Array.from({ length: BURST }, () => askForKey(caller, holder)))
  return tally(caller)
}

function askForKey(caller: Caller, { id, token }: TokenHolder) {
  return caller.ask('limited', 'GET', `/helix/streams/key?broadcaster_id=${id}`, { token })
}

function tally({ asked }: Caller) {
  const count = (status: number) => asked.filter(each => each.status === status).length
  const [admitted, refused] = [count(200), count(429)]
  return { asked: asked.length, admitted, refused, others: asked.length - admitted - refused }
}
