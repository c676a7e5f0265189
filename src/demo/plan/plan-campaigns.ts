/** Drops campaigns of the demo and of a scenario. */
import type { Scenario } from '../../contract/resources/scenario.ts'
import {
  CAMPAIGN_DEFAULTS,
  checkPublish,
  MAX_CONCURRENT,
  maxConcurrent,
  readTimes,
  type StoredCampaign,
} from '../../domain/campaign.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Step } from '../../store/command-list.ts'
import type { ScenarioCampaignEntry } from '../described-world.ts'
import { InvalidScenario } from '../invalid-scenario.ts'
import { type Draft, TOKEN_SECONDS } from './draft.ts'
import { type Catalog, type Drop, gameFor, inventedUuid } from './plan-catalog.ts'

const HOUR = 3_600_000

/** A campaign of the demo, for its first game: a drop that is soon earned, and one that takes longer. */
export function planCampaign({ steps, seed, now }: Draft, own: Drop): StoredCampaign {
  const lamp = inventedUuid(seed, 'benefit of the campaign')
  const { organization_id, game_id } = own
  steps.push(['putBenefit', { id: lamp, name: 'Tide lamp', organization_id, game_id }])
  const drop = (name: string, required_minutes: number, benefit_id: string) => ({
    id: inventedUuid(seed, `drop of ${required_minutes} minutes`),
    name,
    required_minutes,
    benefit_ids: [benefit_id],
  })
  const campaign = {
    ...CAMPAIGN_DEFAULTS,
    id: inventedUuid(seed, 'campaign of the demo'),
    name: 'Tidefall lights',
    organization_id,
    game_id,
    starts_at: isoMillis(now - HOUR),
    // As long as the tokens of the demo.
    ends_at: isoMillis(now + TOKEN_SECONDS * 1000),
    account_link: 'none' as const,
    drops: [drop('Two minutes', 2, lamp), drop('Half an hour', 30, own.benefit_id)],
  }
  steps.push(...publishSteps(campaign))
  return campaign
}

/** A campaign is published at its start, which may be long ago. */
function publishSteps({ id, state: _, stopped_at: __, ...content }: StoredCampaign): Step[] {
  const now = Date.parse(content.starts_at)
  return [
    ['putCampaign', { id, content, now }],
    ['publishCampaign', { id, now }],
  ]
}

interface ScenarioReferences {
  readonly catalog: Catalog
  readonly own: Drop
  /** Of the demo. */
  readonly campaign: StoredCampaign
  findId(person: string): string
}

type ScenarioCampaign = NonNullable<Scenario['campaigns']>[string]

export function planScenarioCampaigns(
  draft: Draft & ScenarioReferences,
  { campaigns = {} }: Scenario,
): Record<string, ScenarioCampaignEntry> {
  const things: Record<string, ScenarioCampaignEntry> = {}
  const planned = [draft.campaign]
  for (const [entry, wanted] of Object.entries(campaigns)) {
    const place = `$.campaigns.${entry}`
    const campaign = readCampaign(draft, entry, wanted)
    const refused = checkPublish(campaign, Date.parse(campaign.starts_at))
    if (refused !== undefined) throw new InvalidScenario(describeRefusal(refused, place))
    planned.push(campaign)
    const together = planned.filter(({ game_id }) => game_id === campaign.game_id)
    if (maxConcurrent(together.map(readTimes)) > MAX_CONCURRENT)
      throw new InvalidScenario(
        `${place} is one of more than ${MAX_CONCURRENT} campaigns of a game at a time`,
      )
    draft.steps.push(...publishSteps(campaign))
    const { id, organization_id, game_id, drops } = campaign
    things[entry] = {
      id,
      organization_id,
      game_id,
      drops: drops.map(({ id, name, required_minutes }) => ({ id, name, required_minutes })),
    }
  }
  return things
}

/** References have the names of a scenario: `link_client`, not `link_client_id`. */
function describeRefusal({ problem, details }: NonNullable<ReturnType<typeof checkPublish>>, place: string) {
  if (problem === 'campaign_incomplete') return `${place} needs ${details.join(', ').replaceAll('_id', '')}`
  const [field, why] = details
  return `${place}.${field} was malformed: ${why}`
}

function readCampaign(
  { catalog, own, seed, now, findId }: Draft & ScenarioReferences,
  entry: string,
  wanted: ScenarioCampaign,
): StoredCampaign {
  const place = `$.campaigns.${entry}`
  const { organization = 'organization', game, channels, link_client } = wanted
  const { starts_seconds_ago = 3600, lasts_seconds = 604_800 } = wanted
  const organization_id = catalog.organizations.get(organization)?.id ?? ''
  const game_id = game === undefined ? own.game_id : gameFor(catalog, organization_id, game, place)
  if (game === undefined && organization_id !== own.organization_id)
    throw new InvalidScenario(`${place} needs a game of the organization "${organization}", or of none`)
  const starts = now - starts_seconds_ago * 1000
  return {
    ...CAMPAIGN_DEFAULTS,
    id: (wanted.id ?? inventedUuid(seed, `campaign ${entry}`)).toLowerCase(),
    name: wanted.name ?? entry,
    organization_id,
    game_id,
    starts_at: isoMillis(starts),
    ends_at: isoMillis(starts + lasts_seconds * 1000),
    claim_seconds: wanted.claim_seconds ?? CAMPAIGN_DEFAULTS.claim_seconds,
    ...(channels && { channels: 'listed', channel_ids: [...new Set(channels.map(findId))].sort() }),
    account_link: wanted.account_link ?? CAMPAIGN_DEFAULTS.account_link,
    link_client_id:
      link_client === undefined ? null : findClient(catalog, link_client, organization_id, place),
    link_url: wanted.link_url ?? null,
    auto_claim: wanted.auto_claim ?? false,
    drops: wanted.drops.map(({ required_minutes, benefits = ['benefit'], ...drop }, index) => ({
      id: (drop.id ?? inventedUuid(seed, `drop ${index} of ${entry}`)).toLowerCase(),
      name: drop.name ?? `${required_minutes} minutes`,
      required_minutes,
      benefit_ids: benefits.map(name => {
        const benefit = catalog.benefits.get(name)
        const at = `${place}.drops[${index}].benefits has "${name}", which belongs to another`
        if (benefit?.organization_id !== organization_id) throw new InvalidScenario(`${at} organization`)
        if ((benefit.game_id ?? game_id) !== game_id) throw new InvalidScenario(`${at} game`)
        return benefit.id
      }),
    })),
  }
}

function findClient(catalog: Catalog, name: string, organization_id: string, place: string): string {
  const client = catalog.clients.get(name)
  if (client?.organization_id === organization_id) return client.id
  throw new InvalidScenario(`${place}.link_client is "${name}", which belongs to another organization`)
}
