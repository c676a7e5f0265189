/** All operations at once, in the shares in which a platform might be asked for them. */
import { SeededRandom } from '../../src/kit/random.ts'
import { prepare } from '../measures/prepare.ts'
import { getStreamsRandom } from '../scenarios/get-streams-random.ts'
import { scenarios } from '../scenarios/index.ts'
import type { BenchWorld } from '../world/world.ts'
import type { Served } from './children.ts'
import type { PacedRequest } from './paced-load.ts'

const LENGTH = 10_000
const WALKED_PAGES = 5

/** Of a hundred requests. Every scenario is in it. */
const SHARES: Readonly<Record<string, number>> = {
  'get-streams-top': 20,
  'get-streams-random': 25,
  'get-streams-of-user': 15,
  'get-followed-streams': 10,
  'get-stream-key': 5,
  'get-stream-markers': 5,
  'get-drops-entitlements-by-id': 4,
  'get-drops-entitlements-of-user': 4,
  'get-drops-entitlements-page': 2,
  'validate-token': 6,
  'create-stream-marker': 3,
  'update-drops-entitlements': 1,
}

/** A circle of requests. Directory pages are walked with the cursors that the answers bring, as clients do. */
export async function mixedRequests(world: BenchWorld, strand: Served): Promise<PacedRequest[]> {
  const random = new SeededRandom(11)
  const parts: { requests: readonly PacedRequest[]; until: number; next: number }[] = []
  let until = 0
  for (const scenario of scenarios) {
    const { requests } = await prepare(world, strand, scenario)
    until += SHARES[scenario.name] ?? 0
    parts.push({ requests: scenario === getStreamsRandom ? walks(requests) : requests, until, next: 0 })
  }
  return Array.from({ length: LENGTH }, () => {
    const drawn = random.next() * until
    const part = parts.find(each => drawn < each.until)
    const request = part?.requests[part.next++ % part.requests.length]
    if (request === undefined) throw new Error('a scenario needs a request')
    return request
  })
}

function walks(pages: readonly PacedRequest[]): PacedRequest[] {
  return pages.filter(({ path }) => !path.includes('&after=')).map(each => ({ ...each, pages: WALKED_PAGES }))
}
