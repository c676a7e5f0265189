import { anyone } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { DropsCampaign, exampleDropsCampaign } from '../resources/campaign.ts'

/** Decision D-230. */
export const getDropsCampaign = defineOperation('GET /drops/campaigns/{campaign_id}', {
  id: 'GetDropsCampaign',
  summary: 'Get a campaign that was published.',
  description: 'With a user token that has `user:read:drops`, campaigns have the `progress` of the user.',
  access: anyone,
  returns: singleSchema(DropsCampaign),
  problems: ['not_found'],
  example: { params: { campaign_id: exampleDropsCampaign.id }, answer: { data: [exampleDropsCampaign] } },
})
