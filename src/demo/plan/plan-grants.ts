import type { Scenario } from '../../contract/resources/scenario.ts'
import type { ScenarioGrantEntry } from '../described-world.ts'
import type { Draft } from './draft.ts'
import { type Catalog, inventedUuid, planDrop } from './plan-catalog.ts'

/** Entitlements of one benefit in large numbers. */
export function planGrants(
  { steps, seed, now }: Draft,
  catalog: Catalog,
  idOf: (person: string) => string,
  { grants = {} }: Scenario,
): Record<string, ScenarioGrantEntry> {
  const things: Record<string, ScenarioGrantEntry> = {}
  for (const [entry, grant] of Object.entries(grants)) {
    const { count, fulfilled = 0, users = ['viewer'], granted_seconds_ago = 3600 } = grant
    const drop = planDrop(catalog, grant, `$.grants.${entry}`)
    const id_prefix = inventedUuid(seed, `grant ${entry}`).slice(0, 24)
    const oldest = now - granted_seconds_ago * 1000
    const user_ids = users.map(idOf)
    steps.push(['addEntitlements', { ...drop, user_ids, count, fulfilled, id_prefix, oldest, now }])
    things[entry] = { count, ...drop }
  }
  return things
}
