import type { Page, PageRequest } from '../../contract/page.ts'
import type { CampaignDrop, CampaignState, ListedCampaign } from '../../contract/resources/campaign.ts'
import { readTimes, type StoredCampaign } from '../../domain/campaign.ts'
import type { CountingSpan } from '../../domain/watched-minutes.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { Columns, flag, json, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { filteredPage } from '../keyset.ts'
import { BY_ID } from '../keyset-order.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { ofOrganization } from './list-filters.ts'

/** A campaign with what only the store needs. */
export interface NumberedCampaign extends StoredCampaign {
  /** Its short name in tables with many rows. */
  readonly number: number
  /** Times between a stop and the publication that continued it, in milliseconds. */
  readonly pauses: CountingSpan['pauses']
}

/** A campaign as minutes and claims need it: without its channels, which may be many. */
export type CountedCampaign = Omit<NumberedCampaign, 'channel_ids'>

/** A campaign without its parts. */
export type CampaignRow = Omit<CountedCampaign, 'drops'>

export const campaignColumns = new Columns<CampaignRow>(
  'campaigns',
  {
    id: plain,
    number: plain,
    name: plain,
    organization_id: plain,
    game_id: plain,
    state: plain,
    starts_at: plain,
    ends_at: plain,
    stopped_at: plain,
    pauses: json(),
    claim_seconds: plain,
    channels: plain,
    account_link: plain,
    link_client_id: plain,
    link_url: plain,
    auto_claim: flag,
  },
  { claim_ends_at: campaign => isoMillis(readTimes(campaign).closes) },
)
const { select } = campaignColumns

/** When minutes of a campaign count. */
export function countingSpan(campaign: CountedCampaign): CountingSpan {
  const { starts, ends } = readTimes(campaign)
  return { starts, ends, pauses: campaign.pauses }
}

/** A campaign without what only the store needs. */
export function publicCampaign({ number: _, pauses: __, ...campaign }: NumberedCampaign): StoredCampaign {
  return campaign
}

export interface CampaignFilter {
  readonly organization_id?: string | undefined
  readonly game_id?: string | undefined
  readonly state?: CampaignState | undefined
}

export const campaignQueries = (db: Database) => {
  const named = async (ids: readonly string[]): Promise<NumberedCampaign[]> => {
    const rows = await db.all<object>(sql`${select} where ${isOneOf(sql`id`, ids)} order by id`)
    return withParts(db, rows.map(readRow))
  }
  return {
    named,
    find: async (id: string): Promise<NumberedCampaign | undefined> => (await named([id.toLowerCase()]))[0],
    /** Those with these ids, without their channels. */
    counted: async (ids: readonly string[]): Promise<CountedCampaign[]> => {
      const rows = await db.all<object>(sql`${select} where ${isOneOf(sql`id`, ids)} order by id`)
      return withDrops(db, rows.map(readRow))
    },
    /** Campaigns that are no drafts and whose drops can be claimed at this time or later. */
    open: async (from: string): Promise<StoredCampaign[]> => {
      const rows = await db.all<object>(
        sql`${select} where claim_ends_at > ${from} and state <> 'draft' order by id`,
      )
      return (await withParts(db, rows.map(readRow))).map(publicCampaign)
    },
    /** Campaigns of a game that are published and end after this time. */
    ofGame: async (game_id: string, endingAfter: string): Promise<CampaignRow[]> => {
      const rows = await db.all<object>(
        sql`${select} where game_id = ${game_id} and ends_at > ${endingAfter} and state = 'published' order by id`,
      )
      return rows.map(readRow)
    },
    page: async (
      filter: CampaignFilter,
      window: PageRequest,
    ): Promise<Page<Omit<ListedCampaign, 'phase'>>> => {
      const { game_id, state } = filter
      const page = await filteredPage<CampaignRow>(db, {
        select,
        where: ofOrganization(filter),
        order: BY_ID,
        window,
        filter: row =>
          (game_id === undefined || row.game_id === game_id) && (state === undefined || row.state === state),
      })
      const rows = page.rows.map(readRow)
      const drops = await readDrops(db, rows)
      return {
        ...page,
        rows: rows.map(({ number: _, pauses: __, ...row }) => ({ ...row, drops: drops.get(row.id) ?? [] })),
      }
    },
    /** What viewers see of a campaign beside its fields: names of games and benefits. */
    names: async (campaigns: readonly StoredCampaign[]) => {
      const games = await db.all<{ id: string; name: string }>(
        sql`select id, name from games where ${isOneOf(sql`id`, [...new Set(campaigns.map(each => each.game_id))])}`,
      )
      const ids = campaigns.flatMap(({ drops }) => drops.flatMap(drop => drop.benefit_ids))
      const benefits = await db.all<{ id: string; name: string }>(
        sql`select id, name from benefits where ${isOneOf(sql`id`, [...new Set(ids)])}`,
      )
      return {
        games: new Map(games.map(({ id, name }) => [id, name])),
        benefits: new Map(benefits.map(({ id, name }) => [id, name])),
      }
    },
  }
}

const readRow = (row: object): CampaignRow => campaignColumns.read(row)

async function withDrops(db: Database, rows: readonly CampaignRow[]): Promise<CountedCampaign[]> {
  if (rows.length === 0) return []
  const drops = await readDrops(db, rows)
  return rows.map(row => ({ ...row, drops: drops.get(row.id) ?? [] }))
}

async function withParts(db: Database, rows: readonly CampaignRow[]): Promise<NumberedCampaign[]> {
  const campaigns = await withDrops(db, rows)
  if (campaigns.length === 0) return []
  const channels = await db.all<{ campaign_id: string; user_id: string }>(
    sql`select campaign_id, user_id from campaign_channels
        where ${isOneOf(
          sql`campaign_id`,
          rows.map(({ id }) => id),
        )} order by campaign_id, user_id`,
  )
  const listed = Map.groupBy(channels, ({ campaign_id }) => campaign_id)
  return campaigns.map(campaign => ({
    ...campaign,
    channel_ids: (listed.get(campaign.id) ?? []).map(({ user_id }) => user_id),
  }))
}

async function readDrops(
  db: Database,
  campaigns: readonly { readonly id: string }[],
): Promise<Map<string, CampaignDrop[]>> {
  const ids = campaigns.map(({ id }) => id)
  const drops = await db.all<Omit<CampaignDrop, 'benefit_ids'> & { campaign_id: string }>(
    sql`select id, name, required_minutes, campaign_id from campaign_drops
        where ${isOneOf(sql`campaign_id`, ids)} order by campaign_id, place`,
  )
  const given = await db.all<{ drop_id: string; benefit_id: string; place: number }>(
    sql`select drop_id, benefit_id, place from campaign_drop_benefits
        where ${isOneOf(
          sql`drop_id`,
          drops.map(({ id }) => id),
        )}`,
  )
  // A drop has few: no index is needed for their order.
  const benefits = Map.groupBy(
    given.sort((a, b) => a.place - b.place),
    ({ drop_id }) => drop_id,
  )
  const lists = new Map<string, CampaignDrop[]>(ids.map(id => [id, []]))
  for (const { campaign_id, ...drop } of drops) {
    const benefit_ids = (benefits.get(drop.id) ?? []).map(({ benefit_id }) => benefit_id)
    lists.get(campaign_id)?.push({ ...drop, benefit_ids })
  }
  return lists
}
