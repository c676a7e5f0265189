/** What the rest of a platform tells Strand all day: who goes live, who stops, how many watch. */
import { SeededRandom } from '../../src/kit/random.ts'
import type { BenchWorld } from '../world/world.ts'
import type { Flow } from './paced-load.ts'

const CHANNELS_PER_REPORT = 10_000
export const REPORT_EVERY_SECONDS = 5
/** Each round of reports has other counts than the one before, for every channel. */
const ROUNDS_OF_COUNTS = 4

const CHANGES_PER_SECOND = 100
const CHURNING_CHANNELS = 3000
/** How long a channel is off before it goes live again. */
const OFF_SECONDS = 5

/** The viewers of everybody who is live change every five seconds, in calls of 10,000 channels, evenly spaced. */
export function viewerReports({ liveIds, secrets }: BenchWorld): Flow {
  const random = new SeededRandom(7)
  const parts: string[][] = []
  for (let start = 0; start < liveIds.length; start += CHANNELS_PER_REPORT) {
    parts.push(liveIds.slice(start, start + CHANNELS_PER_REPORT))
  }
  const requests = Array.from({ length: ROUNDS_OF_COUNTS }, (_, round) =>
    parts.map(ids => ({
      method: 'POST' as const,
      path: '/control/viewers',
      token: secrets.operatorToken,
      body: { counts: Object.fromEntries(ids.map(id => [id, drawViewers(random) + round])) },
    })),
  ).flat()
  return { name: 'viewers', perSecond: parts.length / REPORT_EVERY_SECONDS, connections: 1, requests }
}

/** Few have most of the viewers. Multiples of the rounds, so that a round can be told from the next. */
function drawViewers(random: SeededRandom): number {
  return ROUNDS_OF_COUNTS * Math.floor(2 / (random.next() + 0.00001))
}

/**
 * A hundred channels stop every second and a hundred go live: the same ones, a few seconds later. So at the end all are
 * live again, as they were, unless the server was overloaded: a later run had better take others. They are the last of the
 * world, who have no other role.
 */
export function startsAndEnds(
  { liveIds, secrets }: BenchWorld,
  seconds: number,
  which: 'the last' | 'those before',
): Flow[] {
  const from = liveIds.length - CHURNING_CHANNELS * (which === 'the last' ? 1 : 2)
  const channels = liveIds.slice(from, from + CHURNING_CHANNELS).map(id => `/control/channels/${id}/stream`)
  const token = secrets.operatorToken
  const every = { perSecond: CHANGES_PER_SECOND, connections: 4 }
  return [
    {
      ...every,
      name: 'ends',
      toSecond: seconds - OFF_SECONDS,
      requests: channels.map(path => ({ method: 'DELETE', path, token })),
    },
    {
      ...every,
      name: 'starts',
      fromSecond: OFF_SECONDS,
      requests: channels.map((path, index) => ({
        method: 'PUT',
        path,
        token,
        body: { viewer_count: index },
      })),
    },
  ]
}
