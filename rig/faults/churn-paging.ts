import { faultsOfWalk, type Walk } from '../judge/walks.ts'
import { Caller } from '../load/caller.ts'
import { StreamJournal } from '../load/stream-load.ts'
import { walkDirectory } from '../load/walk-load.ts'
import { type Changes, changeViewers } from './changes.ts'
import type { Fault } from './fault.ts'
import { atMost, noted, shown } from './findings.ts'

/** In a small world pages are small, so that there are many. */
const SMALL = { most: 5000, walkers: 4, page: 20, changes: { perSecond: 50 } }
const LARGE = { walkers: 8, page: 100 }
const EVERY_COUNT_SECONDS = 10
const STARTERS = 4
const REST_MILLISECONDS = 40

/** L2 */
export const churnPaging: Fault = {
  name: 'churn-paging',
  what: 'clients walk through the directory, each page from another node, while streams start, end and change viewers',
  seconds: pace => 3 + pace.seconds,
  strike: async ground => {
    const { stage, world, pace } = ground
    const { walkers, page, changes } = paceOf(world.steady.length)
    const end = performance.now() + pace.seconds * 1000
    const goOn = () => performance.now() < end
    const journal = new StreamJournal(world.operatorToken)
    const starting = new Caller(stage.balancer.url)
    const walks: Walk[] = []
    const walking = new Caller(stage.balancer.url)
    const walker = async () => {
      while (goOn()) walks.push(await walkDirectory(walking, page))
    }
    const starter = async (number: number) => {
      const own = world.churning.filter((_, index) => index % STARTERS === number)
      for (let turn = 0; goOn(); turn++) {
        await journal.toggle(starting, own[turn % own.length] ?? '')
        await Bun.sleep(REST_MILLISECONDS)
      }
    }
    const [perSecond] = await Promise.all([
      changeViewers(ground, changes, goOn),
      ...Array.from({ length: walkers }, walker),
      ...Array.from({ length: STARTERS }, (_, number) => starter(number)),
    ])
    const sometimes = new Set(world.churning)
    const faults = walks.map(walk => faultsOfWalk(walk, { throughout: world.steady, sometimes }))
    const sum = (of: (each: (typeof faults)[number]) => number) =>
      faults.reduce((all, each) => all + of(each), 0)
    const servers = walks.map(walk => new Set(walk.servers).size)
    return [
      noted(
        'load',
        `${walks.length} walks of at least ${shown(world.steady.length)} streams, ${page} per page; ` +
          `${shown(starting.asked.length / pace.seconds)} starts and ends and ${shown(perSecond)} viewer changes per second; ` +
          `${Math.min(...servers)} to ${Math.max(...servers)} nodes per walk`,
      ),
      atMost('incomplete walks', walks.filter(walk => !walk.whole).length, 0),
      atMost(
        'duplicate streams',
        sum(each => each.twice),
        0,
      ),
      atMost(
        'missing streams that were live throughout',
        sum(each => each.missing),
        0,
      ),
      atMost(
        'listed streams that were never live',
        sum(each => each.neverLive),
        0,
      ),
    ]
  },
}

/** In a large world every count changes every ten seconds. */
function paceOf(streams: number): { walkers: number; page: number; changes: Changes } {
  if (streams <= SMALL.most) return SMALL
  const perSecond = streams / EVERY_COUNT_SECONDS
  return { ...LARGE, changes: { perSecond, together: Math.ceil(perSecond / 2) } }
}
