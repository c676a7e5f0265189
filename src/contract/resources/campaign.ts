import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { exampleBenefit } from './benefit.ts'
import { exampleClient } from './client.ts'
import { exampleGame } from './game.ts'
import { Name, ReturnedUrl, ReturnedUuid, TimeMillis } from './id.ts'
import { exampleOrganization } from './organization.ts'

/** What is stored (D-201). */
export const CAMPAIGN_STATES = ['draft', 'published', 'stopped'] as const
export type CampaignState = (typeof CAMPAIGN_STATES)[number]

/** What follows from the state and the clock (D-201). */
export const CAMPAIGN_PHASES = ['upcoming', 'active', 'claimable', 'ended'] as const
export type CampaignPhase = (typeof CAMPAIGN_PHASES)[number]

/** From the laxest to the strictest (D-206). */
export const ACCOUNT_LINKS = ['none', 'after_claim', 'before_claim'] as const

export const CHANNEL_RULES = ['all', 'listed'] as const

/** The conditions of D-211 and D-220, in the order in which they are explained. */
export const CAMPAIGN_RULES = [
  'session_live',
  'session_names_viewer',
  'session_old_enough',
  'channel_live',
  'plays_the_game',
  'campaign_active',
  'channel_admitted',
  'not_the_broadcaster',
  'network_admitted',
  'claim_window_open',
  'minutes_reached',
  'account_linked',
] as const

export type CampaignRule = (typeof CAMPAIGN_RULES)[number]

export const MAX_DROPS = 20
export const MAX_BENEFITS = 10
export const MAX_CHANNELS = 10_000
/** A week. */
export const MAX_REQUIRED_MINUTES = 10_080
/** Half a year. */
export const MAX_CLAIM_SECONDS = 15_552_000
export const DEFAULT_CLAIM_SECONDS = 86_400

/** Neither spaces nor a user in front of the host: every viewer sees it. */
export const LINK_URL = {
  pattern: '^https?://[^/?#@\\s]+(?:[/?#]\\S*)?$',
  maxLength: 500,
  hint: 'an http or https URL without user and spaces',
} as const

export const CampaignDrop = resource('CampaignDrop', 'A reward for a number of watched minutes.', {
  id: ReturnedUuid,
  name: Name,
  required_minutes: Type.Integer({
    description: 'Counted from the start of the campaign, not from the drop before it.',
  }),
  benefit_ids: Type.Array(ReturnedUuid),
})
export type CampaignDrop = Static<typeof CampaignDrop>

const fields = {
  id: ReturnedUuid,
  name: Name,
  organization_id: ReturnedUuid,
  game_id: Type.String(),
  state: Type.Enum(CAMPAIGN_STATES),
  phase: orNull(
    Type.Enum(CAMPAIGN_PHASES),
    'Computed from the clock; null for a draft. A stopped campaign is `claimable`, later `ended`.',
  ),
  starts_at: TimeMillis,
  ends_at: TimeMillis,
  stopped_at: orNull(TimeMillis),
  claim_seconds: Type.Integer({
    description: 'How long drops can be claimed after minutes have stopped to count.',
  }),
  channels: Type.Enum(CHANNEL_RULES, {
    description: '`all` channels that play the game, or the `listed` ones while they play it.',
  }),
  account_link: Type.Enum(ACCOUNT_LINKS, {
    description: 'Whether viewers have to authorize `link_client_id`, and if so when.',
  }),
  link_client_id: orNull(Type.String(), 'The client that a linked viewer has authorized.'),
  link_url: orNull(ReturnedUrl, 'The page of the studio where viewers link their account.'),
  auto_claim: Type.Boolean({ description: 'Whether a drop is claimed for the viewer who reaches it.' }),
  drops: Type.Array(CampaignDrop),
}

/** Lists leave out the channels, of which a campaign can have many. */
export const ListedCampaign = resource(
  'ListedCampaign',
  'Drops that viewers earn by watching a game, without the list of channels.',
  fields,
)
export type ListedCampaign = Static<typeof ListedCampaign>

export const Campaign = resource('Campaign', 'Drops that viewers earn by watching a game.', {
  ...fields,
  channel_ids: Type.Array(Type.String()),
})
export type Campaign = Static<typeof Campaign>

export const exampleDrop: CampaignDrop = {
  id: '5d0c1f63-5f0b-4c56-9a3b-0f3f8f2f6a01',
  name: 'Thirty minutes',
  required_minutes: 30,
  benefit_ids: [exampleBenefit.id],
}

export const exampleListedCampaign: ListedCampaign = {
  id: '0b6f5a1e-6f0a-4f38-8f9f-2f4f3f1e9c10',
  name: 'Reef week',
  organization_id: exampleOrganization.id,
  game_id: exampleGame.id,
  state: 'published',
  phase: 'active',
  starts_at: '2026-03-01T12:00:00.000Z',
  ends_at: '2026-03-08T12:00:00.000Z',
  stopped_at: null,
  claim_seconds: DEFAULT_CLAIM_SECONDS,
  channels: 'all',
  account_link: 'after_claim',
  link_client_id: exampleClient.id,
  link_url: 'https://reef.example/link',
  auto_claim: false,
  drops: [exampleDrop],
}

export const exampleCampaign: Campaign = { ...exampleListedCampaign, channel_ids: [] }

/** What the viewer can do with a drop (D-224). */
const DROP_STATES = ['earning', 'claimable', 'claimed', 'missed'] as const
export type DropState = (typeof DROP_STATES)[number]

export const DropsProgress = resource('DropsProgress', 'How far a viewer is in a campaign.', {
  campaign_id: ReturnedUuid,
  minutes: Type.Integer(),
  linked: Type.Boolean({ description: 'Whether the viewer has authorized the client of the campaign.' }),
  drops: Type.Array(
    Type.Object({
      drop_id: ReturnedUuid,
      state: Type.Enum(DROP_STATES),
      minutes_left: Type.Integer({ description: '0 if the drop is reached.' }),
    }),
  ),
})
export type DropsProgress = Static<typeof DropsProgress>

export const exampleProgress: DropsProgress = {
  campaign_id: exampleCampaign.id,
  minutes: 23,
  linked: false,
  drops: [{ drop_id: exampleDrop.id, state: 'earning', minutes_left: 7 }],
}

export const DropsCampaign = resource('DropsCampaign', 'A campaign as viewers see it.', {
  id: ReturnedUuid,
  name: Name,
  game_id: Type.String(),
  game_name: Type.String(),
  phase: Type.Enum(CAMPAIGN_PHASES),
  starts_at: TimeMillis,
  ends_at: TimeMillis,
  claim_ends_at: TimeMillis,
  account_link: Type.Enum(ACCOUNT_LINKS),
  link_url: orNull(ReturnedUrl),
  channels: Type.Enum(CHANNEL_RULES),
  drops: Type.Array(
    Type.Object({
      id: ReturnedUuid,
      name: Name,
      required_minutes: Type.Integer(),
      benefits: Type.Array(Type.Object({ id: ReturnedUuid, name: Name })),
    }),
  ),
  progress: Type.Optional(DropsProgress),
})
export type DropsCampaign = Static<typeof DropsCampaign>

export const exampleDropsCampaign: DropsCampaign = {
  id: exampleCampaign.id,
  name: exampleCampaign.name,
  game_id: exampleGame.id,
  game_name: exampleGame.name,
  phase: 'active',
  starts_at: exampleCampaign.starts_at,
  ends_at: exampleCampaign.ends_at,
  claim_ends_at: '2026-03-09T12:00:00.000Z',
  account_link: 'after_claim',
  link_url: exampleCampaign.link_url,
  channels: 'all',
  drops: [
    {
      id: exampleDrop.id,
      name: exampleDrop.name,
      required_minutes: exampleDrop.required_minutes,
      benefits: [{ id: exampleBenefit.id, name: exampleBenefit.name }],
    },
  ],
}

/** How a drop came to be claimed: by the viewer, or because the campaign claims for its viewers. */
export const CLAIM_SOURCES = ['viewer', 'auto'] as const
export type ClaimSource = (typeof CLAIM_SOURCES)[number]

export const DropClaim = resource('DropClaim', 'A drop that a viewer has claimed.', {
  drop_id: ReturnedUuid,
  campaign_id: ReturnedUuid,
  user_id: Type.String(),
  claimed_at: TimeMillis,
  entitlement_ids: Type.Array(ReturnedUuid, { description: 'One for each benefit of the drop.' }),
})
export type DropClaim = Static<typeof DropClaim>

export const exampleClaim: DropClaim = {
  drop_id: exampleDrop.id,
  campaign_id: exampleCampaign.id,
  user_id: '25009227',
  claimed_at: '2026-03-01T12:31:00.250Z',
  entitlement_ids: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0'],
}
