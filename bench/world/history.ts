/** More entitlements for a world: as lines to import, or granted and fulfilled by the commands of the server. */
import { SeededRandom } from '../../src/kit/random.ts'
import type { Store } from '../../src/store/store.ts'
import type { BenchWorld, Holding } from './world.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const INTERVAL = 500
const FULFILLED_AFTER = 60_000
const BATCH_SIZE = 100
/** Calls that wait together, so that they share commits. */
const WAITING = 4
const FIRST_HOLDER = 700_000_000
const HOLDINGS_PER_USER = 20

interface Granted extends Holding {
  readonly benefit_id: string
  readonly timestamp: string
}

/** In order of time; each user has about twenty. */
export function* inventEntitlements({ benefits }: BenchWorld, count: number): Generator<Granted> {
  const random = new SeededRandom(5)
  const holders = Math.ceil(count / HOLDINGS_PER_USER)
  for (let n = 0; n < count; n++) {
    const user_id = String(FIRST_HOLDER + random.between(0, holders - 1))
    const timestamp = new Date(START + n * INTERVAL).toISOString()
    yield { id: random.uuid(), user_id, ...random.pick(benefits), timestamp }
  }
}

/** Users, and all that they hold, as an export would have them. */
export async function writeLines(world: BenchWorld, count: number, users: string, held: string) {
  const holders = Array.from({ length: Math.ceil(count / HOLDINGS_PER_USER) }, (_, n) => ({
    type: 'user',
    id: String(FIRST_HOLDER + n),
    login: `holder_${n}`,
  }))
  await writeFile(users, holders)
  const lines = inventEntitlements(world, count).map(each => ({ type: 'entitlement', ...each }))
  await writeFile(held, lines)
}

async function writeFile(file: string, lines: Iterable<object>): Promise<void> {
  const out = Bun.file(file).writer()
  for (const line of lines) await out.write(`${JSON.stringify(line)}\n`)
  await out.end()
}

/** Calls of 100 entitlements each, some of them together. */
async function inCalls(all: Iterable<Granted>, call: (granted: readonly Granted[]) => Promise<unknown>) {
  let [batch, waiting]: [Granted[], Promise<unknown>[]] = [[], []]
  for (const each of all) {
    if (batch.push(each) < BATCH_SIZE) continue
    waiting.push(call(batch))
    batch = []
    if (waiting.length < WAITING) continue
    await Promise.all(waiting)
    waiting = []
  }
  if (batch.length > 0) waiting.push(call(batch))
  await Promise.all(waiting)
}

/** As an operator does. */
export function grantAll(store: Store, all: Iterable<Granted>): Promise<void> {
  return inCalls(all, async granted => {
    const author = { actor: 'operator', operation: 'GrantEntitlements', chain: 'operator' }
    const at = granted[0]?.timestamp ?? ''
    const grants = granted.map(each => ({ ...each, timestampGiven: true }))
    await store.as({ ...author, at }).commands.grantEntitlements({ grants })
  })
}

/** As a client does, a minute after the grant. */
export function fulfilAll(
  store: Store,
  { organization }: BenchWorld,
  all: Iterable<Granted>,
  onDone: (fulfilled: readonly Holding[]) => void = () => undefined,
): Promise<void> {
  return inCalls(all, async granted => {
    const now = Date.parse(granted[0]?.timestamp ?? '') + FULFILLED_AFTER
    const author = {
      actor: 'client/benchbenchbenchbenchbenchbench',
      operation: 'UpdateDropsEntitlements',
      chain: organization,
      at: new Date(now).toISOString(),
    }
    await store.as(author).commands.updateEntitlements({
      ids: granted.map(({ id }) => id),
      fulfillment_status: 'FULFILLED',
      reach: { organization_id: organization },
      failing: [],
      now,
    })
    onDone(granted)
  })
}
