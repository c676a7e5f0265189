/** Campaigns and progress as viewers see them. */
import type { DropsCampaign, DropsProgress } from '../contract/resources/campaign.ts'
import type { Caller } from '../domain/caller.ts'
import { campaignPhase, dropState, minutesLeft, readTimes, type StoredCampaign } from '../domain/campaign.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { ViewerProgress } from '../store/queries/drop-progress.ts'
import type { Services } from './implement.ts'

type Needed = Pick<Services, 'store' | 'watchTime' | 'clock'>

/** Published campaigns, with the progress of the caller if the token may read it. */
export async function renderDropsCampaigns(
  campaigns: readonly StoredCampaign[],
  caller: Caller,
  services: Needed,
): Promise<DropsCampaign[]> {
  const { store, clock } = services
  const now = clock.now()
  const names = await store.campaigns.names(campaigns)
  const reads = caller.kind === 'user' && caller.scopes.includes('user:read:drops')
  const progress = reads ? await renderProgress(campaigns, caller.user_id, services) : []
  const byCampaign = new Map(progress.map(each => [each.campaign_id, each]))
  return campaigns.map(campaign => {
    const { id, name, game_id, starts_at, ends_at, account_link, link_url, channels, drops } = campaign
    const times = readTimes(campaign)
    const own = byCampaign.get(id)
    return {
      id,
      name,
      game_id,
      game_name: names.games.get(game_id) ?? '',
      phase: campaignPhase(times, now) ?? 'ended',
      starts_at,
      ends_at,
      claim_ends_at: isoMillis(times.closes),
      account_link,
      link_url,
      channels,
      drops: drops.map(drop => ({
        id: drop.id,
        name: drop.name,
        required_minutes: drop.required_minutes,
        benefits: drop.benefit_ids.map(each => ({ id: each, name: names.benefits.get(each) ?? '' })),
      })),
      ...(own && { progress: own }),
    }
  })
}

/** The progress of a viewer in these campaigns, also where it is none. */
export async function renderProgress(
  campaigns: readonly StoredCampaign[],
  user_id: string,
  { store, watchTime, clock }: Needed,
): Promise<DropsProgress[]> {
  await watchTime.flushViewer(user_id)
  const ids = campaigns.map(({ id }) => id)
  const stored = await store.dropProgress.ofViewer(user_id, ids)
  const progress = new Map(stored.map(each => [each.campaign_id, each]))
  const clients = campaigns.flatMap(({ link_client_id }) => link_client_id ?? [])
  const linked = await store.dropProgress.linkedClients(user_id, [...new Set(clients)])
  const now = clock.now()
  return campaigns.map(campaign =>
    describeProgress(campaign, progress.get(campaign.id), linked.has(campaign.link_client_id ?? ''), now),
  )
}

function describeProgress(
  campaign: StoredCampaign,
  progress: ViewerProgress | undefined,
  linked: boolean,
  now: number,
): DropsProgress {
  const phase = campaignPhase(readTimes(campaign), now)
  const { minutes = 0, claimed = [] } = progress ?? {}
  return {
    campaign_id: campaign.id,
    minutes,
    linked,
    drops: campaign.drops.map(({ id, required_minutes }) => ({
      drop_id: id,
      state: dropState({ minutes, required_minutes, isClaimed: claimed.includes(id), phase }),
      minutes_left: minutesLeft(minutes, required_minutes),
    })),
  }
}
