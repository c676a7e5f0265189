import { anyone } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { listing } from '../page.ts'
import { CAMPAIGN_PHASES, DropsCampaign, exampleDropsCampaign } from '../resources/campaign.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decision D-230. */
export const getDropsCampaigns = defineOperation('GET /drops/campaigns', {
  id: 'GetDropsCampaigns',
  summary: 'List campaigns that are upcoming, active or claimable, ordered by id.',
  description: 'With a user token that has `user:read:drops`, campaigns have the `progress` of the user.',
  access: anyone,
  query: Type.Object({
    game_id: Type.Optional(IdFilter),
    channel_id: Type.Optional({
      ...IdFilter,
      description: 'Campaigns that admit this channel, whatever game it plays now.',
    }),
    phase: Type.Optional(
      Type.Enum(CAMPAIGN_PHASES, { description: 'Default: all but those that are over.' }),
    ),
  }),
  ...listing(DropsCampaign),
  example: { query: { phase: 'active' }, answer: { data: [exampleDropsCampaign], pagination: {} } },
})
