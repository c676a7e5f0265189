/** Why a viewer earns minutes in a campaign, or why not: the rules of D-211 and D-220 with the values seen. */
import type { CampaignRule } from '../contract/resources/campaign.ts'
import { campaignPhase, readTimes, type StoredCampaign } from '../domain/campaign.ts'
import { MIN_SESSION_MILLISECONDS } from '../domain/watched-minutes.ts'
import type { Services } from './implement.ts'

interface RuleRow {
  rule: CampaignRule
  holds: boolean
  seen: string
}

type Needed = Pick<Services, 'store' | 'directory' | 'watchTime' | 'clock'>

export async function explainViewer(
  campaign: StoredCampaign,
  { user_id, channel_id }: { readonly user_id: string; readonly channel_id: string },
  { store, directory, watchTime, clock }: Needed,
): Promise<RuleRow[]> {
  await watchTime.flushViewer(user_id)
  const now = clock.now()
  const heard = watchTime.findViewer(user_id)
  const game = directory.findGame(channel_id)
  const phase = campaignPhase(readTimes(campaign), now)
  const [progress] = await store.dropProgress.ofViewer(user_id, [campaign.id])
  const minutes = progress?.minutes ?? 0
  const least = Math.min(...campaign.drops.map(drop => drop.required_minutes))
  const client = campaign.link_client_id ?? ''
  const linked = (await store.dropProgress.linkedClients(user_id, client === '' ? [] : [client])).has(client)
  const isListed = campaign.channel_ids.includes(channel_id)
  const row = (rule: CampaignRule, holds: boolean, seen: string): RuleRow => ({ rule, holds, seen })
  const age = Math.floor((heard?.ageMilliseconds ?? 0) / 1000)
  return [
    row(
      'session_live',
      heard?.heardOn === channel_id,
      heard === undefined ? 'no recent heartbeat' : `the last heartbeat was on the channel ${heard.heardOn}`,
    ),
    row(
      'session_names_viewer',
      heard !== undefined,
      heard === undefined ? 'no session that names the viewer' : 'a session names the viewer',
    ),
    row(
      'session_old_enough',
      age * 1000 >= MIN_SESSION_MILLISECONDS,
      heard === undefined ? 'no session' : `${age} s old, ${MIN_SESSION_MILLISECONDS / 1000} s are needed`,
    ),
    row(
      'channel_live',
      game !== undefined,
      game === undefined ? 'the channel is offline' : 'the channel is live',
    ),
    row('plays_the_game', game === campaign.game_id, game ? `the channel plays the game ${game}` : 'no game'),
    row('campaign_active', phase === 'active', `the campaign is ${phase ?? 'a draft'}`),
    row(
      'channel_admitted',
      campaign.channels === 'all' || isListed,
      campaign.channels === 'all' ? 'all channels' : `the channel is ${isListed ? '' : 'not '}listed`,
    ),
    row('not_the_broadcaster', user_id !== channel_id, `viewer ${user_id}, channel ${channel_id}`),
    row(
      'network_admitted',
      heard?.isOverLimit !== true,
      heard?.isOverLimit ? 'as many viewers of this network earn as may' : 'no limit is reached',
    ),
    row(
      'claim_window_open',
      phase === 'active' || phase === 'claimable',
      `the campaign is ${phase ?? 'a draft'}`,
    ),
    row('minutes_reached', minutes >= least, `${minutes} minutes, the first drop takes ${least}`),
    row(
      'account_linked',
      linked || campaign.account_link !== 'before_claim',
      `${linked ? 'linked' : 'not linked'}, account_link is ${campaign.account_link}`,
    ),
  ]
}
