import { getDropsCampaign } from '../../contract/drops/get-drops-campaign.ts'
import { refuse } from '../../contract/problem.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { answerOne, implement } from '../implement.ts'
import { renderDropsCampaigns } from '../render-drops-campaign.ts'

export const handleGetDropsCampaign = implement(
  getDropsCampaign,
  async ({ params: { campaign_id }, caller }, services) => {
    const campaign = await services.store.campaigns.find(campaign_id)
    if (campaign === undefined || campaign.state === 'draft')
      return refuse('not_found', 'campaign', campaign_id)
    const [row] = await renderDropsCampaigns([campaign], caller, services)
    return answerOne(assertDefined(row, 'the campaign that was found'))
  },
)
