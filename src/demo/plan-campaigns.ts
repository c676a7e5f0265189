import type { Scenario } from '../contract/resources/scenario.ts'
import type { ScenarioCampaignEntry } from './described-world.ts'
import type { Draft } from './draft.ts'
import { type Catalog, inventedUuid, planDrop } from './plan-catalog.ts'

/** Entitlements of one benefit in large numbers. */
export function planCampaigns(
  { steps, seed, now }: Draft,
  catalog: Catalog,
  idOf: (person: string) => string,
  { campaigns = {} }: Scenario,
): Record<string, ScenarioCampaignEntry> {
  const things: Record<string, ScenarioCampaignEntry> = {}
  for (const [entry, campaign] of Object.entries(campaigns)) {
    const { count, fulfilled = 0, users = ['viewer'], granted_seconds_ago = 3600 } = campaign
    const drop = planDrop(catalog, campaign, `$.campaigns.${entry}`)
    const id_prefix = inventedUuid(seed, `campaign ${entry}`).slice(0, 24)
    const oldest = now - granted_seconds_ago * 1000
    const user_ids = users.map(idOf)
    steps.push(['addCampaign', { ...drop, user_ids, count, fulfilled, id_prefix, oldest, now }])
    things[entry] = { count, ...drop }
  }
  return things
}
