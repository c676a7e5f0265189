import { isoMillis } from '../kit/clock.ts'
import type { SeededRandom } from '../kit/random.ts'
import type { Step } from '../store/commands/index.ts'
import type { Person } from './people.ts'

const MINUTE = 60_000

/** The entitlements of the demo's users; every third one is fulfilled. */
export function planEntitlements(
  steps: Step[],
  random: SeededRandom,
  of: {
    people: readonly Person[]
    benefits: readonly { id: string }[]
    games: readonly { id: string }[]
    organization_id: string
    count: number
  },
  now: number,
): void {
  const grants = Array.from({ length: of.count }, (_, index) => ({
    id: random.uuid(),
    user_id: (of.people[index % 8] as Person).id,
    benefit_id: random.pick(of.benefits).id,
    game_id: random.pick(of.games).id,
    timestamp: isoMillis(now - random.between(1, 10_000) * MINUTE),
    timestampGiven: true,
  }))
  steps.push(['grantEntitlements', { grants }])
  const ids = grants.filter((_, index) => index % 3 === 0).map(grant => grant.id)
  const reach = { organization_id: of.organization_id }
  steps.push(['updateEntitlements', { ids, fulfillment_status: 'FULFILLED', reach, failing: [], now }])
}
