import { type Refusal, refuse } from '../../contract/problem.ts'
import type { CampaignDrop, ClaimSource, DropClaim } from '../../contract/resources/campaign.ts'
import { campaignPhase, readTimes } from '../../domain/campaign.ts'
import { uuid } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Lookup, RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { rowInserts } from '../insert-rows.ts'
import { type CampaignRow, campaignColumns, campaignQueries } from '../queries/campaigns.ts'
import { readUuid } from '../queries/entitlement-rows.ts'
import { isOneOf, type StoredUuid, sql, uuidValue } from '../sql/tag.ts'
import { emitGrants } from './entitlement-events.ts'
import { insertEntitlements, type NewEntitlement } from './insert-entitlements.ts'
import { lockViewer, lockViewers } from './lock-viewers.ts'

type ClaimProblem = 'not_found' | 'drop_not_reached' | 'claim_closed' | 'account_not_linked'

/**
 * Claims a drop for a viewer (D-220): the claims, their entitlements, the event and the audit entry, or nothing. A drop that
 * is claimed already gives the same answer again (D-221). Claims of several viewers may share a transaction.
 */
export async function claimDrop(
  tx: Transaction,
  args: { readonly user_id: string; readonly drop_id: string; readonly now: number },
): Promise<DropClaim | Refusal<ClaimProblem>> {
  const { user_id, drop_id, now } = args
  if (!(await lockViewer(tx, user_id))) return refuse('not_found', 'drop', drop_id)
  const [[drop], benefits, claims, progress] = await Promise.all([
    tx.lookUp(dropWithId, [drop_id]),
    tx.lookUp(benefitsOfDrop, [drop_id]),
    tx.lookUp(claimsOfViewer, [user_id]),
    tx.lookUp(progressOfViewer, [user_id]),
  ])
  const [row] = drop === undefined ? [] : await tx.lookUp(campaignWithId, [drop.campaign_id])
  if (drop === undefined || row === undefined) return refuse('not_found', 'drop', drop_id)
  const campaign = campaignColumns.read(row)
  if (campaign.state === 'draft') return refuse('not_found', 'drop', drop_id)
  const claimed = claims.filter(each => each.drop_id === drop_id).sort(byBenefit)
  const answer = (claimed_at: string, entitlement_ids: string[]): DropClaim => {
    return { drop_id, campaign_id: campaign.id, user_id, claimed_at, entitlement_ids }
  }
  if (claimed[0] !== undefined)
    return answer(
      claimed[0].claimed_at,
      claimed.map(each => readUuid(each.entitlement_id)),
    )
  if (campaignPhase(readTimes(campaign), now) === 'ended') return refuse('claim_closed')
  const minutes = progress.find(each => each.campaign === campaign.number)?.minutes ?? 0
  if (minutes < drop.required_minutes) return refuse('drop_not_reached', minutes, drop.required_minutes)
  const benefit_ids = benefits.sort((a, b) => a.place - b.place).map(each => each.benefit_id)
  const reached = { user_id, campaign, drop: { ...drop, benefit_ids } }
  if ((await keepLinked(tx, [reached])).length === 0)
    return refuse('account_not_linked', campaign.link_url ?? '')
  const granted = await writeClaims(tx, [reached], { now, source: 'viewer' })
  // In the order in which a repeated claim reads them.
  return answer(
    isoMillis(now),
    granted.toSorted(byBenefit).map(({ id }) => id),
  )
}

const dropWithId: Lookup<Omit<CampaignDrop, 'benefit_ids'> & { readonly campaign_id: string }> = {
  column: 'id',
  select: sql`select id, name, required_minutes, campaign_id from campaign_drops`,
  by: sql`id`,
}

const benefitsOfDrop: Lookup<{ drop_id: string; benefit_id: string; place: number }> = {
  column: 'drop_id',
  select: sql`select drop_id, benefit_id, place from campaign_drop_benefits`,
  by: sql`drop_id`,
}

const campaignWithId: Lookup<{ readonly id: string }> = {
  column: 'id',
  select: campaignColumns.select,
  by: sql`id`,
}

interface StoredClaim {
  readonly user_id: string
  readonly drop_id: string
  readonly benefit_id: string
  readonly entitlement_id: StoredUuid
  readonly claimed_at: string
}

const claimsOfViewer: Lookup<StoredClaim> = {
  column: 'user_id',
  select: sql`select user_id, drop_id, benefit_id, entitlement_id, claimed_at from drop_claims`,
  by: sql`user_id`,
}

const progressOfViewer: Lookup<{ user_id: string; campaign: number; minutes: number }> = {
  column: 'user_id',
  select: sql`select user_id, campaign, minutes from drop_progress`,
  by: sql`user_id`,
}

/** A drop that a viewer has reached. */
export interface ReachedDrop {
  readonly user_id: string
  readonly campaign: CampaignRow
  readonly drop: CampaignDrop
}

/**
 * Claims drops that viewers have reached in a campaign that claims for them (D-222), unless they are claimed already, or
 * the viewer has to link an account first. The viewers are locked. Returns those that were claimed.
 */
export async function claimReached(
  tx: Transaction,
  reached: readonly ReachedDrop[],
  now: number,
): Promise<ReachedDrop[]> {
  const open = reached.filter(({ campaign }) => campaignPhase(readTimes(campaign), now) !== 'ended')
  if (open.length === 0) return []
  const rows = await tx.all<{ user_id: string; drop_id: string }>(
    sql`select distinct user_id, drop_id from drop_claims
        where ${isOneOf(sql`user_id`, [...new Set(open.map(each => each.user_id))])}
          and ${isOneOf(sql`drop_id`, [...new Set(open.map(each => each.drop.id))])}`,
  )
  const claimed = new Set(rows.map(({ user_id, drop_id }) => `${user_id} ${drop_id}`))
  const wanted = open.filter(({ user_id, drop }) => !claimed.has(`${user_id} ${drop.id}`))
  const linked = await keepLinked(tx, wanted)
  await writeClaims(tx, linked, { now, source: 'auto' })
  return linked
}

/** Claims a drop for viewers who have reached it and not claimed it: a step of the hourly auto-claim. */
export async function claimForViewers(
  tx: Transaction,
  args: {
    readonly campaign_id: string
    readonly drop_id: string
    readonly user_ids: readonly string[]
    readonly now: number
  },
): Promise<number> {
  const viewers = await lockViewers(tx, [...args.user_ids].sort())
  const [campaign] = await campaignQueries(tx).counted([args.campaign_id])
  const drop = campaign?.drops.find(({ id }) => id === args.drop_id)
  if (campaign === undefined || drop === undefined || !campaign.auto_claim) return 0
  const rows = await tx.all<{ user_id: string }>(
    sql`select user_id from drop_progress where campaign = ${campaign.number} and minutes >= ${drop.required_minutes}
          and ${isOneOf(sql`user_id`, [...viewers.keys()])} order by user_id`,
  )
  const reached = rows.map(({ user_id }) => ({ user_id, campaign, drop }))
  return (await claimReached(tx, reached, args.now)).length
}

/** Without those whose viewers have to link an account first (D-206). */
async function keepLinked(tx: Transaction, reached: readonly ReachedDrop[]): Promise<ReachedDrop[]> {
  const strict = reached.filter(({ campaign }) => campaign.account_link === 'before_claim')
  if (strict.length === 0) return [...reached]
  const rows = await tx.lookUp(connectionsOfUser, [...new Set(strict.map(each => each.user_id))])
  const linked = new Set(rows.map(({ user_id, client_id }) => `${user_id} ${client_id}`))
  return reached.filter(
    ({ user_id, campaign }) =>
      campaign.account_link !== 'before_claim' || linked.has(`${user_id} ${campaign.link_client_id}`),
  )
}

const connectionsOfUser: Lookup<{ user_id: string; client_id: string }> = {
  column: 'user_id',
  select: sql`select user_id, client_id from connections`,
  by: sql`user_id`,
}

/** An entitlement that a claim grants. */
interface Granted extends NewEntitlement {
  readonly drop_id: string
  readonly campaign_id: string
  readonly source: ClaimSource
}

const newClaims: RowWrite<readonly Granted[]> = lists =>
  rowInserts(
    'insert into drop_claims (user_id, drop_id, benefit_id, entitlement_id, claimed_at, source)',
    lists.flat(),
    row => [row.user_id, row.drop_id, row.benefit_id, uuidValue(row.id), row.timestamp, row.source],
  )

const byBenefit = (a: { readonly benefit_id: string }, b: { readonly benefit_id: string }): number =>
  a.benefit_id < b.benefit_id ? -1 : 1

/** Writes claims of locked viewers: an entitlement for each benefit, the event, and an audit entry for each claim. */
async function writeClaims(
  tx: Transaction,
  reached: readonly ReachedDrop[],
  { now, source }: { readonly now: number; readonly source: ClaimSource },
): Promise<readonly Granted[]> {
  const claimed_at = isoMillis(now)
  const granted: Granted[] = []
  for (const { user_id, campaign, drop } of reached) {
    const { organization_id, game_id, number } = campaign
    const entitlements = drop.benefit_ids.map(benefit_id => ({
      id: uuid(),
      organization_id,
      benefit_id,
      user_id,
      game_id,
      timestamp: claimed_at,
      fulfillment_status: 'CLAIMED' as const,
      last_updated: claimed_at,
      campaign: number,
      campaign_id: campaign.id,
      drop_id: drop.id,
      source,
    }))
    granted.push(...entitlements)
    const entitlement_ids = entitlements.map(({ id }) => id)
    tx.record({ subject: `drop/${drop.id}`, after: { user_id, source, entitlement_ids } })
  }
  // The claims do not refer to the rows of entitlements.
  await Promise.all([insertEntitlements(tx, granted), tx.write(newClaims, granted)])
  await emitGrants(tx, granted)
  return granted
}
