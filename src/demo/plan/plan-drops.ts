import type { SeededRandom } from '../../kit/random.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Draft } from './draft.ts'
import type { Person } from './people.ts'

const MINUTE = 60_000

interface Drops {
  readonly people: readonly Person[]
  readonly benefits: readonly { id: string }[]
  readonly games: readonly { id: string }[]
  readonly organization_id: string
  readonly count: number
}

/** Entitlements of the demo's users; every third is fulfilled. */
export function planEntitlements({ steps, now }: Draft, random: SeededRandom, drops: Drops): void {
  const grants = Array.from({ length: drops.count }, (_, index) => ({
    id: random.uuid(),
    user_id: (drops.people[index % 8] as Person).id,
    benefit_id: random.pick(drops.benefits).id,
    game_id: random.pick(drops.games).id,
    timestamp: isoMillis(now - random.between(1, 10_000) * MINUTE),
    timestampGiven: true,
  }))
  steps.push(['grantEntitlements', { grants }])
  const ids = grants.filter((_, index) => index % 3 === 0).map(grant => grant.id)
  const reach = { organization_id: drops.organization_id }
  steps.push(['updateEntitlements', { ids, fulfillment_status: 'FULFILLED', reach, failing: [], now }])
}
