import { type Refusal, refuse } from '../../contract/problem.ts'
import { mayCount, type SlotSet, slotAt, uniteSlots } from '../../domain/watched-minutes.ts'
import type { Transaction } from '../database.ts'
import { rowInserts } from '../insert-rows.ts'
import { type CountedCampaign, campaignQueries, countingSpan } from '../queries/campaigns.ts'
import { sql, storeClock } from '../sql/tag.ts'
import { claimReached, type ReachedDrop } from './drop-claims.ts'
import { lockViewers } from './lock-viewers.ts'
import { refuseSuspended } from './refuse-suspended.ts'

/** What a node reports of a viewer. */
export interface WatchReport {
  readonly user_id: string
  /** Slots in which heartbeats counted, each with the campaigns that it counts for: a place in the list `sets`. */
  readonly slots: readonly (readonly [slot: number, set: number])[]
}

/** The minutes of a viewer in a campaign after a report, and the drops that were claimed in it. */
export interface WatchedProgress {
  readonly user_id: string
  readonly campaign_id: string
  readonly minutes: number
  /** Those that are new. */
  readonly added: number
  readonly claimed: readonly string[]
}

/**
 * Credits the slots that nodes report, each once (D-213), and only while the campaign counts: a node may not have heard of
 * a stop yet (D-214). Drops that are reached are claimed where the campaign does that for its viewers (D-222).
 */
export async function flushWatchTime(
  tx: Transaction,
  args: {
    readonly viewers: readonly WatchReport[]
    /** Lists of campaign ids. */
    readonly sets: readonly (readonly string[])[]
    /** The time of the node. */
    readonly now: number
    /** Whether the clock of the node has nothing to do with that of the store, as in a demo. */
    readonly ownClock?: boolean
  },
): Promise<WatchedProgress[]> {
  const now = args.ownClock ? args.now : await readClock(tx)
  const viewers = args.viewers.toSorted((a, b) => (a.user_id < b.user_id ? -1 : 1))
  const campaigns = await campaignQueries(tx).counted([...new Set(args.sets.flat())])
  const counted = new Map(campaigns.map(each => [each.id, { campaign: each, span: countingSpan(each) }]))
  const sets = args.sets.map(ids => ids.flatMap(id => counted.get(id) ?? []))
  const stored = await lockViewers(
    tx,
    viewers.map(({ user_id }) => user_id),
  )
  const [changed, credits]: [ChangedViewer[], Credit[]] = [[], []]
  for (const { user_id, slots } of viewers) {
    const before = stored.get(user_id)
    if (before === undefined) continue
    // A slot that no campaign takes stays free for another channel.
    const taken = new Map(
      slots.map(([slot, set]) => [slot, (sets[set] ?? []).filter(({ span }) => mayCount(slot, span))]),
    )
    const wanted = [...taken].flatMap(([slot, takers]) => (takers.length > 0 ? [slot] : []))
    const { set, credited } = uniteSlots(before, wanted, slotAt(now))
    if (set !== before) changed.push({ user_id, ...set })
    const minutes = new Map<CountedCampaign, number>()
    for (const slot of credited)
      for (const { campaign } of taken.get(slot) ?? [])
        minutes.set(campaign, (minutes.get(campaign) ?? 0) + 1)
    for (const [campaign, added] of minutes) credits.push({ user_id, campaign, added })
    stored.set(user_id, set)
  }
  await writeSlots(tx, changed)
  return credit(tx, credits, args.now)
}

type ChangedViewer = SlotSet & { readonly user_id: string }

/** Minutes to add. */
interface Credit {
  readonly user_id: string
  readonly campaign: CountedCampaign
  readonly added: number
}

async function readClock(tx: Transaction): Promise<number> {
  const row = await tx.get<{ now: number | string }>(sql`select ${storeClock} as now`)
  return Number(row?.now)
}

async function writeSlots(tx: Transaction, changed: readonly ChangedViewer[]): Promise<void> {
  if (changed.length === 0) return
  const statements = rowInserts(
    'insert into watched_minutes (user_id, slot, recent)',
    changed,
    ({ user_id, slot, recent }) => [user_id, slot, recent],
    ' on conflict (user_id) do update set slot = excluded.slot, recent = excluded.recent',
  )
  await Promise.all(Array.from(statements, each => tx.run(each)))
}

/** Adds minutes of locked viewers, and claims what they reach with them. */
async function credit(tx: Transaction, credits: readonly Credit[], now: number): Promise<WatchedProgress[]> {
  if (credits.length === 0) return []
  const statements = rowInserts(
    'insert into drop_progress (campaign, user_id, minutes)',
    credits,
    ({ campaign, user_id, added }) => [campaign.number, user_id, added],
    ` on conflict (campaign, user_id) do update set minutes = drop_progress.minutes + excluded.minutes
      returning campaign, user_id, minutes`,
  )
  const totals = await Promise.all(
    Array.from(statements, each => tx.all<{ campaign: number; user_id: string; minutes: number }>(each)),
  )
  const minutes = new Map(totals.flat().map(row => [`${row.campaign} ${row.user_id}`, row.minutes]))
  const reached: ReachedDrop[] = []
  const progress = credits.map(({ user_id, campaign, added }) => {
    const total = minutes.get(`${campaign.number} ${user_id}`) ?? added
    if (campaign.auto_claim)
      for (const drop of campaign.drops)
        if (total - added < drop.required_minutes && drop.required_minutes <= total)
          reached.push({ user_id, campaign, drop })
    return { user_id, campaign_id: campaign.id, minutes: total, added }
  })
  const claims = Map.groupBy(
    await claimReached(tx, reached, now),
    ({ user_id, campaign }) => `${campaign.id} ${user_id}`,
  )
  return progress.map(each => {
    const claimed = claims.get(`${each.campaign_id} ${each.user_id}`) ?? []
    return { ...each, claimed: claimed.map(({ drop }) => drop.id) }
  })
}

/** Adds minutes by hand, for a viewer whose minutes were not counted (D-231). */
export async function addWatchedMinutes(
  tx: Transaction,
  args: {
    readonly campaign_id: string
    readonly user_id: string
    readonly add: number
    readonly now: number
  },
): Promise<
  | { campaign_id: string; user_id: string; minutes: number }
  | Refusal<'not_found' | 'user_suspended' | 'campaign_draft'>
> {
  const { campaign_id, user_id, add, now } = args
  const viewers = await lockViewers(tx, [user_id])
  const [campaign] = await campaignQueries(tx).counted([campaign_id])
  if (campaign === undefined) return refuse('not_found', 'campaign', campaign_id)
  if (viewers.size === 0)
    return (await refuseSuspended(tx, [user_id])) ?? refuse('not_found', 'user', user_id)
  if (campaign.state === 'draft') return refuse('campaign_draft')
  const [progress] = await credit(tx, [{ user_id, campaign, added: add }], now)
  const minutes = progress?.minutes ?? add
  const subject = `campaign/${campaign_id}/viewer/${user_id}`
  tx.record({ subject, before: { minutes: minutes - add }, after: { minutes } })
  return { campaign_id, user_id, minutes }
}
