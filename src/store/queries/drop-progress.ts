import type { DropClaim } from '../../contract/resources/campaign.ts'
import type { StoredCampaign } from '../../domain/campaign.ts'
import type { Database } from '../database.ts'
import { isOneOf, limitedTo, type StoredUuid, sql } from '../sql/tag.ts'
import { readUuid } from './entitlement-rows.ts'

/** Campaigns of one viewer that a list shows. Progress is deleted some time after the end, so few have as many. */
const MAX_CAMPAIGNS = 100
/** Viewers that a report reads at once. */
const BATCH_SIZE = 5000

/** How far a viewer is in a campaign. */
export interface ViewerProgress {
  readonly campaign_id: string
  readonly minutes: number
  /** Ids of the drops that the viewer has claimed. */
  readonly claimed: readonly string[]
}

/** A report, without what only the campaign has. */
export interface ProgressTotals {
  readonly viewers: number
  readonly minutes: number
  readonly linked: number
  readonly fulfilled: number
  /** Viewers by drop. */
  readonly reached: ReadonlyMap<string, number>
  readonly claimed: ReadonlyMap<string, number>
}

export const dropProgressQueries = (db: Database) => ({
  /** The progress of a viewer in these campaigns, or in all that the viewer has watched. */
  ofViewer: async (user_id: string, campaign_ids?: readonly string[]): Promise<ViewerProgress[]> => {
    const named = campaign_ids === undefined ? sql`` : sql` and ${isOneOf(sql`c.id`, campaign_ids)}`
    const rows = await db.all<{ campaign_id: string; minutes: number }>(
      sql`select c.id as campaign_id, p.minutes from drop_progress p join campaigns c on c.number = p.campaign
          where p.user_id = ${user_id}${named} order by p.campaign${limitedTo(MAX_CAMPAIGNS)}`,
    )
    const claims = await db.all<{ drop_id: string; campaign_id: string }>(
      sql`select distinct k.drop_id, d.campaign_id from drop_claims k join campaign_drops d on d.id = k.drop_id
          where k.user_id = ${user_id}`,
    )
    const claimed = Map.groupBy(claims, ({ campaign_id }) => campaign_id)
    return rows.map(row => ({
      ...row,
      claimed: (claimed.get(row.campaign_id) ?? []).map(({ drop_id }) => drop_id),
    }))
  },

  /** How many drops the viewer can claim at this time. Reads the progress of the viewer only, which is pruned. */
  countClaimable: async (user_id: string, now: string): Promise<number> => {
    const row = await db.get<{ count: number }>(
      sql`select count(*) as count from drop_progress p
            join campaigns c on c.number = p.campaign
            join campaign_drops d on d.campaign_id = c.id
          where p.user_id = ${user_id} and p.minutes >= d.required_minutes
            and c.state <> 'draft' and c.claim_ends_at > ${now}
            and not exists (select 1 from drop_claims k where k.user_id = p.user_id and k.drop_id = d.id)`,
    )
    return Number(row?.count ?? 0)
  },

  /** The clients among these that the user has authorized. */
  linkedClients: async (user_id: string, client_ids: readonly string[]): Promise<Set<string>> => {
    if (client_ids.length === 0) return new Set()
    const rows = await db.all<{ client_id: string }>(
      sql`select client_id from connections where user_id = ${user_id} and ${isOneOf(sql`client_id`, client_ids)}`,
    )
    return new Set(rows.map(({ client_id }) => client_id))
  },

  claim: async (user_id: string, drop_id: string): Promise<DropClaim | undefined> =>
    readClaim(db, user_id, drop_id),

  /** Counts viewers and claims of a campaign, along the key and in steps: other work runs between them. */
  totals: async (campaign: StoredCampaign): Promise<ProgressTotals> => {
    const reached = new Map(campaign.drops.map(({ id }) => [id, 0]))
    let [viewers, minutes, linked] = [0, 0, 0]
    for (let after = ''; ; ) {
      const rows = await db.all<{ user_id: string; minutes: number; linked: number }>(
        sql`select p.user_id, p.minutes,
              case when k.user_id is null then 0 else 1 end as linked
            from (select user_id, minutes from drop_progress
              where campaign = (select number from campaigns where id = ${campaign.id}) and user_id > ${after}
              order by user_id${limitedTo(BATCH_SIZE)}) p
            left join connections k on k.user_id = p.user_id and k.client_id = ${campaign.link_client_id ?? ''}
            order by p.user_id`,
      )
      for (const row of rows) {
        viewers += 1
        minutes += row.minutes
        linked += row.linked
        for (const { id, required_minutes } of campaign.drops)
          if (row.minutes >= required_minutes) reached.set(id, (reached.get(id) ?? 0) + 1)
      }
      const last = rows.at(-1)
      if (rows.length < BATCH_SIZE || last === undefined) break
      after = last.user_id
    }
    const claimed = new Map<string, number>()
    let fulfilled = 0
    for (const { id } of campaign.drops) {
      const counts = await countClaims(db, id)
      claimed.set(id, counts.viewers)
      fulfilled += counts.fulfilled
    }
    return { viewers, minutes, linked, fulfilled, reached, claimed }
  },

  /** Viewers of a campaign who have reached a drop and not claimed it, by user id. */
  unclaimed: async (
    campaign_id: string,
    drop: { readonly id: string; readonly required_minutes: number },
    after: string,
    most: number,
  ): Promise<{ readonly user_ids: string[]; readonly last: string | undefined }> => {
    const rows = await db.all<{ user_id: string; minutes: number; claimed: number }>(
      sql`select p.user_id, p.minutes,
            case when exists (select 1 from drop_claims k where k.user_id = p.user_id and k.drop_id = ${drop.id})
              then 1 else 0 end as claimed
          from drop_progress p
          where p.campaign = (select number from campaigns where id = ${campaign_id}) and p.user_id > ${after}
          order by p.user_id${limitedTo(most)}`,
    )
    const reached = rows.filter(row => row.minutes >= drop.required_minutes && row.claimed === 0)
    return {
      user_ids: reached.map(({ user_id }) => user_id),
      last: rows.length < most ? undefined : rows.at(-1)?.user_id,
    }
  },
})

async function countClaims(db: Database, drop_id: string): Promise<{ viewers: number; fulfilled: number }> {
  let [viewers, fulfilled] = [0, 0]
  let [user, benefit] = ['', '']
  for (;;) {
    const rows = await db.all<{ user_id: string; benefit_id: string; fulfilled: number }>(
      sql`select k.user_id, k.benefit_id, coalesce(e.fulfilled, 0) as fulfilled
          from (select user_id, benefit_id, entitlement_id from drop_claims
            where drop_id = ${drop_id} and (user_id, benefit_id) > (${user}, ${benefit})
            order by user_id, benefit_id${limitedTo(BATCH_SIZE)}) k
          left join organization_entitlements e on e.id = k.entitlement_id
          order by k.user_id, k.benefit_id`,
    )
    // A viewer has a row for each benefit, perhaps in two batches.
    for (const row of rows) {
      if (row.user_id !== user) viewers += 1
      fulfilled += row.fulfilled
      user = row.user_id
      benefit = row.benefit_id
    }
    if (rows.length < BATCH_SIZE) return { viewers, fulfilled }
  }
}

/** The claim of a drop, whatever it was claimed by. */
async function readClaim(db: Database, user_id: string, drop_id: string): Promise<DropClaim | undefined> {
  const rows = await db.all<{ entitlement_id: StoredUuid; claimed_at: string; campaign_id: string }>(
    sql`select k.entitlement_id, k.claimed_at, d.campaign_id from drop_claims k
          join campaign_drops d on d.id = k.drop_id
        where k.user_id = ${user_id} and k.drop_id = ${drop_id} order by k.benefit_id`,
  )
  const [first] = rows
  if (first === undefined) return undefined
  const { campaign_id, claimed_at } = first
  const entitlement_ids = rows.map(row => readUuid(row.entitlement_id))
  return { drop_id, campaign_id, user_id, claimed_at, entitlement_ids }
}
