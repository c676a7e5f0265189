/** Decisions about campaigns: their phase, what may change, and what is missing. */
import { type ProblemName, type Refusal, refuse } from '../contract/problem.ts'
import {
  ACCOUNT_LINKS,
  type Campaign,
  type CampaignPhase,
  type CampaignState,
  DEFAULT_CLAIM_SECONDS,
  type DropState,
} from '../contract/resources/campaign.ts'

/** A campaign as it is stored: its phase depends on the clock. */
export type StoredCampaign = Omit<Campaign, 'phase'>

/** The values of a new campaign that its maker leaves out. */
export const CAMPAIGN_DEFAULTS = {
  state: 'draft',
  stopped_at: null,
  claim_seconds: DEFAULT_CLAIM_SECONDS,
  channels: 'all',
  channel_ids: [],
  account_link: 'after_claim',
  link_client_id: null,
  link_url: null,
  auto_claim: false,
} satisfies Partial<StoredCampaign>

/** The times of a campaign, in milliseconds since 1970. */
export interface CampaignTimes {
  readonly state: CampaignState
  readonly starts: number
  /** When minutes stop to count: the planned end, or the stop before it. */
  readonly ends: number
  /** When drops can no longer be claimed. */
  readonly closes: number
}

type TimedFields = Pick<StoredCampaign, 'state' | 'starts_at' | 'ends_at' | 'stopped_at' | 'claim_seconds'>

export function readTimes(campaign: TimedFields): CampaignTimes {
  const { state, starts_at, ends_at, stopped_at, claim_seconds } = campaign
  const planned = Date.parse(ends_at)
  const ends = stopped_at === null ? planned : Math.min(planned, Date.parse(stopped_at))
  return { state, starts: Date.parse(starts_at), ends, closes: ends + claim_seconds * 1000 }
}

/** The phase (D-201); null for a draft. */
export function campaignPhase(
  { state, starts, ends, closes }: CampaignTimes,
  now: number,
): CampaignPhase | null {
  if (state === 'draft') return null
  if (now >= closes) return 'ended'
  if (now >= ends) return 'claimable'
  return now < starts ? 'upcoming' : 'active'
}

const MAX_DAYS = 366
const DAY = 86_400_000

type ContentProblem = 'malformed_parameter' | 'campaign_published' | 'campaign_incomplete'
type Content<N extends ProblemName> = Refusal<N> | undefined

const malformed = (field: string, why: string) =>
  refuse('malformed_parameter', field, `the value must be ${why}`)

/** What is wrong with a campaign whatever its state (D-202, D-232). `before` is what is published already. */
export function checkContent(
  campaign: StoredCampaign,
  before: StoredCampaign | undefined,
): Content<'malformed_parameter'> {
  const length = Date.parse(campaign.ends_at) - Date.parse(campaign.starts_at)
  if (length <= 0) return malformed('ends_at', 'later than starts_at')
  if (length > MAX_DAYS * DAY) return malformed('ends_at', `at most ${MAX_DAYS} days after starts_at`)
  const ids = new Set<string>()
  for (const [place, { id, required_minutes, benefit_ids }] of campaign.drops.entries()) {
    const at = `drops.${place}`
    if (ids.has(id)) return malformed(`${at}.id`, 'the id of one drop only')
    ids.add(id)
    if (new Set(benefit_ids).size < benefit_ids.length)
      return malformed(`${at}.benefit_ids`, 'a list without repeated ids')
    // An operator may end a campaign early: what was promised before stays as it is.
    const known = isOpen(before) ? before.drops.find(drop => drop.id === id) : undefined
    if (known?.required_minutes !== required_minutes && required_minutes * 60_000 > length)
      return malformed(`${at}.required_minutes`, 'at most the minutes between starts_at and ends_at')
  }
  return undefined
}

const isOpen = (campaign: StoredCampaign | undefined): campaign is StoredCampaign =>
  campaign !== undefined && campaign.state !== 'draft'

/** What a published campaign lacks (D-232). */
export function missingParts(campaign: StoredCampaign): string[] {
  const { drops, channels, channel_ids, account_link, link_client_id, link_url } = campaign
  const needsLink = account_link === 'before_claim'
  return [
    ...(drops.length === 0 ? ['drops'] : []),
    ...(channels === 'listed' && channel_ids.length === 0 ? ['channel_ids'] : []),
    ...(needsLink && link_client_id === null ? ['link_client_id'] : []),
    ...(needsLink && link_url === null ? ['link_url'] : []),
  ]
}

/** Whether a campaign may become this one (D-207): what a viewer was promised does not get harder. */
export function checkEdit(
  before: StoredCampaign | undefined,
  after: StoredCampaign,
  now: number,
): Content<ContentProblem> {
  const wrong = checkContent(after, before)
  if (wrong !== undefined || !isOpen(before)) return wrong
  if (after.ends_at !== before.ends_at && Date.parse(after.ends_at) < now)
    return malformed('ends_at', 'in the future')
  const harder = harderField(before, after, now)
  if (harder !== undefined) return refuse('campaign_published', harder[0], harder[1])
  return refuseIncomplete(after)
}

function refuseIncomplete(campaign: StoredCampaign): Refusal<'campaign_incomplete'> | undefined {
  const [first, ...more] = missingParts(campaign)
  return first === undefined ? undefined : refuse('campaign_incomplete', first, ...more)
}

type Harder = readonly [field: string, why: string]

function harderField(before: StoredCampaign, after: StoredCampaign, now: number): Harder | undefined {
  if (after.organization_id !== before.organization_id) return ['organization_id', 'cannot change']
  if (after.game_id !== before.game_id) return ['game_id', 'cannot change']
  if (after.starts_at !== before.starts_at && campaignPhase(readTimes(before), now) !== 'upcoming')
    return ['starts_at', 'cannot change after the start']
  if (after.claim_seconds < before.claim_seconds) return ['claim_seconds', 'cannot become shorter']
  if (ACCOUNT_LINKS.indexOf(after.account_link) > ACCOUNT_LINKS.indexOf(before.account_link))
    return ['account_link', 'cannot become stricter']
  if (after.account_link === 'before_claim' && after.link_client_id !== before.link_client_id)
    return ['link_client_id', 'cannot change while viewers have to link it before they claim']
  return harderDrop(before, after)
}

function harderDrop(before: StoredCampaign, after: StoredCampaign): Harder | undefined {
  for (const drop of before.drops) {
    const place = after.drops.findIndex(({ id }) => id === drop.id)
    const changed = after.drops[place]
    if (changed === undefined) return ['drops', `must have the drop "${drop.id}", which is promised`]
    if (changed.required_minutes > drop.required_minutes)
      return [`drops.${place}.required_minutes`, 'cannot become more']
    if (drop.benefit_ids.some(id => !changed.benefit_ids.includes(id)))
      return [`drops.${place}.benefit_ids`, 'must have the benefits that are promised']
  }
  return undefined
}

/** What keeps a campaign from being published. */
export function checkPublish(
  campaign: StoredCampaign,
  now: number,
): Content<'malformed_parameter' | 'campaign_incomplete'> {
  const wrong = checkContent(campaign, undefined)
  if (campaign.state === 'draft' && wrong !== undefined) return wrong
  if (Date.parse(campaign.ends_at) <= now) return malformed('ends_at', 'in the future')
  return refuseIncomplete(campaign)
}

/** The most campaigns of a game that count at the same time (D-213). */
export const MAX_CONCURRENT = 5

/** How many of these spans have a time in common, at most. */
export function maxConcurrent(spans: readonly Pick<CampaignTimes, 'starts' | 'ends'>[]): number {
  let most = 0
  for (const { starts } of spans)
    most = Math.max(most, spans.filter(span => span.starts <= starts && starts < span.ends).length)
  return most
}

/** What the viewer can do with a drop (D-224). Drops that were not reached are missed when minutes no longer count. */
export function dropState(drop: {
  readonly minutes: number
  readonly required_minutes: number
  readonly isClaimed: boolean
  readonly phase: CampaignPhase | null
}): DropState {
  const { minutes, required_minutes, isClaimed, phase } = drop
  if (isClaimed) return 'claimed'
  if (phase === 'ended') return 'missed'
  if (minutes >= required_minutes) return 'claimable'
  return phase === 'claimable' ? 'missed' : 'earning'
}

export const minutesLeft = (minutes: number, required_minutes: number): number =>
  Math.max(0, required_minutes - minutes)
