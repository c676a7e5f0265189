import { getDropsCampaigns } from '../../contract/drops/get-drops-campaigns.ts'
import { admits, type OpenCampaign } from '../../directory/watch-time/open-campaigns.ts'
import { campaignPhase } from '../../domain/campaign.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import { answerPage, implement } from '../implement.ts'
import { renderDropsCampaigns } from '../render-drops-campaign.ts'

export const handleGetDropsCampaigns = implement(
  getDropsCampaigns,
  async ({ query: { game_id, channel_id, phase }, window, paginate, caller }, services) => {
    const now = services.clock.now()
    const [after = ''] = window.from ?? []
    const isListed = (each: OpenCampaign) => {
      const current = campaignPhase(each.times, now)
      return (
        each.campaign.id > String(after) &&
        (phase === undefined ? current !== 'ended' : current === phase) &&
        (game_id === undefined || each.campaign.game_id === game_id) &&
        (channel_id === undefined || admits(each, channel_id))
      )
    }
    const found = services.campaigns.list().filter(isListed)
    const campaigns = found.slice(0, window.first).map(({ campaign }) => campaign)
    const rows = await renderDropsCampaigns(campaigns, caller, services)
    return answerPage({ rows, more: found.length > window.first }, idSortKey, paginate)
  },
)
