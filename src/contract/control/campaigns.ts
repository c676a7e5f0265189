import { controlOperation } from '../operation.ts'
import { listing, rowsSchema, singleSchema } from '../page.ts'
import {
  ACCOUNT_LINKS,
  CAMPAIGN_RULES,
  CAMPAIGN_STATES,
  Campaign,
  CHANNEL_RULES,
  DEFAULT_CLAIM_SECONDS,
  exampleCampaign,
  exampleDrop,
  exampleListedCampaign,
  LINK_URL,
  ListedCampaign,
  MAX_BENEFITS,
  MAX_CHANNELS,
  MAX_CLAIM_SECONDS,
  MAX_DROPS,
  MAX_REQUIRED_MINUTES,
} from '../resources/campaign.ts'
import { DecimalId, GivenTime, Name, Uuid } from '../resources/id.ts'
import { listSchema } from '../resources/list.ts'
import { orNull, Type } from '../schema.ts'

const params = Type.Object({ campaign_id: Uuid })
const path = { campaign_id: exampleCampaign.id }
const one = { data: [exampleCampaign] }

const GivenDrop = Type.Object({
  id: { ...Uuid, description: 'Chosen by the caller, so that a repeated request makes no second drop.' },
  name: Name,
  required_minutes: Type.Integer({ minimum: 1, maximum: MAX_REQUIRED_MINUTES }),
  benefit_ids: listSchema(Uuid, 1, MAX_BENEFITS),
})

/** Drops campaigns (D-201 to D-207). */
export const putCampaign = controlOperation('PUT /control/campaigns/{campaign_id}', {
  id: 'PutCampaign',
  summary: 'Create or update the campaign with this id, and its drops.',
  description:
    'A new campaign is a draft. Fields that are left out keep their value; `drops`, if given, is the whole list. What a published campaign promises cannot become harder: more minutes, fewer drops or benefits, a shorter `claim_seconds`, a stricter `account_link`, another game or organization are refused.',
  params,
  body: Type.Object({
    name: Type.Optional(Name),
    organization_id: Type.Optional(Uuid),
    game_id: Type.Optional(DecimalId),
    starts_at: Type.Optional(GivenTime),
    ends_at: Type.Optional(GivenTime),
    claim_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_CLAIM_SECONDS,
        description: `How long drops can be claimed after the end (default: ${DEFAULT_CLAIM_SECONDS}).`,
      }),
    ),
    channels: Type.Optional(
      Type.Enum(CHANNEL_RULES, {
        description: '`all` channels that play the game (default), or those of `channel_ids` while they do.',
      }),
    ),
    channel_ids: Type.Optional(listSchema(DecimalId, 0, MAX_CHANNELS)),
    account_link: Type.Optional(
      Type.Enum(ACCOUNT_LINKS, {
        description: 'When viewers have to authorize `link_client_id` (default: `after_claim`).',
      }),
    ),
    link_client_id: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 64 }))),
    link_url: Type.Optional(orNull(Type.String(LINK_URL))),
    auto_claim: Type.Optional(Type.Boolean()),
    drops: Type.Optional(listSchema(GivenDrop, 0, MAX_DROPS)),
  }),
  returns: singleSchema(Campaign),
  problems: [
    'missing_parameter',
    'unknown_reference',
    'refused_reference',
    'taken',
    'campaign_published',
    'campaign_incomplete',
    'too_many_campaigns',
  ],
  example: {
    params: path,
    body: {
      name: exampleCampaign.name,
      organization_id: exampleCampaign.organization_id,
      game_id: exampleCampaign.game_id,
      starts_at: '2026-03-01T12:00:00Z',
      ends_at: '2026-03-08T12:00:00Z',
      link_client_id: exampleCampaign.link_client_id,
      link_url: exampleCampaign.link_url,
      drops: [exampleDrop],
    },
    answer: { data: [{ ...exampleCampaign, state: 'draft', phase: null }] },
  },
})

export const getCampaign = controlOperation('GET /control/campaigns/{campaign_id}', {
  id: 'GetCampaign',
  summary: 'Get a campaign.',
  returns: singleSchema(Campaign),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listCampaigns = controlOperation('GET /control/campaigns', {
  id: 'ListCampaigns',
  summary: 'List campaigns, ordered by id.',
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    game_id: Type.Optional(Type.String()),
    state: Type.Optional(Type.Enum(CAMPAIGN_STATES, { description: 'The stored state.' })),
  }),
  ...listing(ListedCampaign),
  example: { answer: { data: [exampleListedCampaign], pagination: {} } },
})

export const deleteCampaign = controlOperation('DELETE /control/campaigns/{campaign_id}', {
  id: 'DeleteCampaign',
  summary: 'Delete a campaign in which no viewer has minutes or claims.',
  problems: ['not_found', 'in_use'],
  example: { params: path },
})

export const publishCampaign = controlOperation('POST /control/campaigns/{campaign_id}/publish', {
  id: 'PublishCampaign',
  summary: 'Publish a draft, or continue a stopped campaign.',
  description: 'A campaign that is published stays as it is.',
  returns: singleSchema(Campaign),
  repeatable: true,
  problems: ['not_found', 'malformed_parameter', 'campaign_incomplete', 'too_many_campaigns'],
  example: { params: path, answer: one },
})

export const stopCampaign = controlOperation('POST /control/campaigns/{campaign_id}/stop', {
  id: 'StopCampaign',
  summary: 'Stop counting minutes now, and start the time in which drops can be claimed.',
  description: 'A campaign that is stopped stays as it is.',
  returns: singleSchema(Campaign),
  repeatable: true,
  problems: ['not_found', 'campaign_draft'],
  example: {
    params: path,
    answer: {
      data: [
        { ...exampleCampaign, state: 'stopped', phase: 'claimable', stopped_at: '2026-03-02T12:00:00.000Z' },
      ],
    },
  },
})

export const explainCampaign = controlOperation('GET /control/campaigns/{campaign_id}/explain', {
  id: 'ExplainCampaign',
  summary: 'Explain why a viewer earns minutes on a channel, or why not, rule by rule.',
  description: 'The rules about sessions hold for what this node has heard of.',
  query: Type.Object({ user_id: DecimalId, channel_id: DecimalId }),
  returns: rowsSchema(
    Type.Object({
      rule: Type.Enum(CAMPAIGN_RULES),
      holds: Type.Boolean(),
      seen: Type.String({ description: 'The values that decide it.' }),
    }),
  ),
  problems: ['not_found'],
  example: {
    params: path,
    query: { user_id: '25009227', channel_id: '141981764' },
    answer: { data: [{ rule: 'channel_live', holds: false, seen: 'the channel is offline' }] },
  },
})

export const getCampaignReport = controlOperation('GET /control/campaigns/{campaign_id}/report', {
  id: 'GetCampaignReport',
  summary: 'Count the viewers, minutes and claims of a campaign.',
  description: 'At most ten seconds old. `csv` has a line for each drop.',
  query: Type.Object({
    format: Type.Optional(Type.Enum(['json', 'csv'], { description: 'Default: `json`.' })),
  }),
  returns: singleSchema(
    Type.Object({
      campaign_id: Type.String(),
      viewers: Type.Integer({ description: 'Viewers with minutes.' }),
      minutes: Type.Integer({ description: 'The minutes of all viewers.' }),
      linked: Type.Integer({ description: 'Viewers with minutes who have authorized `link_client_id`.' }),
      fulfilled: Type.Integer({ description: 'Entitlements that are fulfilled.' }),
      drops: Type.Array(
        Type.Object({
          drop_id: Type.String(),
          name: Name,
          required_minutes: Type.Integer(),
          reached: Type.Integer({ description: 'Viewers who have the minutes.' }),
          claimed: Type.Integer({ description: 'Viewers who have claimed it.' }),
        }),
      ),
    }),
  ),
  fileOnRequest: ['text/csv'],
  problems: ['not_found'],
  example: {
    params: path,
    answer: {
      data: [
        {
          campaign_id: exampleCampaign.id,
          viewers: 1200,
          minutes: 31_000,
          linked: 800,
          fulfilled: 400,
          drops: [
            {
              drop_id: exampleDrop.id,
              name: exampleDrop.name,
              required_minutes: exampleDrop.required_minutes,
              reached: 600,
              claimed: 450,
            },
          ],
        },
      ],
    },
  },
})

export const addWatchedMinutes = controlOperation(
  'POST /control/campaigns/{campaign_id}/viewers/{user_id}/minutes',
  {
    id: 'AddWatchedMinutes',
    summary: 'Add minutes to those that a viewer has in a campaign.',
    description: 'For viewers whose minutes were not counted. The audit log has each call.',
    body: Type.Object({ add: Type.Integer({ minimum: 1, maximum: MAX_REQUIRED_MINUTES }) }),
    returns: singleSchema(
      Type.Object({ campaign_id: Type.String(), user_id: Type.String(), minutes: Type.Integer() }),
    ),
    problems: ['not_found', 'user_suspended', 'campaign_draft'],
    example: {
      params: { ...path, user_id: '25009227' },
      body: { add: 5 },
      answer: { data: [{ campaign_id: exampleCampaign.id, user_id: '25009227', minutes: 28 }] },
    },
  },
)
