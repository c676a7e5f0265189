import { type Refusal, refuse } from '../../contract/problem.ts'
import type { CampaignDrop } from '../../contract/resources/campaign.ts'
import {
  CAMPAIGN_DEFAULTS,
  checkEdit,
  checkPublish,
  MAX_CONCURRENT,
  maxConcurrent,
  readTimes,
  type StoredCampaign,
} from '../../domain/campaign.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { randomInteger } from '../../kit/random-integer.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import {
  campaignColumns,
  campaignQueries,
  type NumberedCampaign,
  publicCampaign,
} from '../queries/campaigns.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { refuseUnknown } from './references.ts'

/** Four bytes on both engines. Random, so that a number that was lost with a failed server is not assigned again. */
const MAX_NUMBER = 2 ** 31
/** No report of a node is as late. */
const PAUSES_KEPT_MILLISECONDS = 3_600_000

type PutProblem =
  | 'missing_parameter'
  | 'malformed_parameter'
  | 'unknown_reference'
  | 'refused_reference'
  | 'taken'
  | 'campaign_published'
  | 'campaign_incomplete'
  | 'too_many_campaigns'

type Content = Omit<StoredCampaign, 'id' | 'state' | 'stopped_at'>

/** Creates or changes a campaign with its drops; fields that are left out keep their value. */
export async function putCampaign(
  tx: Transaction,
  args: { readonly id: string; readonly content: Changes<Content>; readonly now: number },
): Promise<StoredCampaign | Refusal<PutProblem>> {
  const { id, content, now } = args
  const before = await lockCampaign(tx, id)
  const missing = REQUIRED.find(name => before === undefined && content[name] === undefined)
  if (missing !== undefined) return refuse('missing_parameter', missing)
  const wanted = changed<NumberedCampaign>(before ?? newCampaign(id), content)
  const after = { ...wanted, channel_ids: sortedIds(wanted.channel_ids) }
  const refused =
    checkEdit(before && publicCampaign(before), after, now) ?? (await refuseReferences(tx, after))
  if (refused !== undefined) return refused
  const crowded = after.state === 'published' ? await refuseCrowd(tx, after) : undefined
  if (crowded !== undefined) return crowded
  return writeCampaign(tx, before, after)
}

async function writeCampaign(
  tx: Transaction,
  before: NumberedCampaign | undefined,
  after: NumberedCampaign,
): Promise<StoredCampaign> {
  if (before === undefined) await campaignColumns.insert(tx, [after])
  else await campaignColumns.update(tx, after)
  await writeDrops(tx, before?.drops ?? [], after)
  await writeChannels(tx, before?.channel_ids ?? [], after)
  return settle(tx, before, after)
}

const REQUIRED = ['name', 'organization_id', 'game_id', 'starts_at', 'ends_at'] as const

/** Writes a campaign as it is, from an import whose lines were checked. */
export async function importCampaign(tx: Transaction, given: StoredCampaign): Promise<StoredCampaign> {
  const before = await lockCampaign(tx, given.id)
  const after = { ...(before ?? newCampaign(given.id)), ...given }
  return writeCampaign(tx, before, after)
}

/** A draft with what has a default. */
const newCampaign = (id: string): NumberedCampaign => ({
  ...CAMPAIGN_DEFAULTS,
  id,
  number: randomInteger(1, MAX_NUMBER),
  name: '',
  organization_id: '',
  game_id: '',
  starts_at: '',
  ends_at: '',
  pauses: [],
  drops: [],
})

const sortedIds = (ids: readonly string[]): string[] => [...new Set(ids)].sort()

/** What the campaign refers to must exist, and belong to its organization (D-204, D-206). */
async function refuseReferences(
  tx: Transaction,
  { id, organization_id, game_id, link_client_id, drops, channel_ids }: StoredCampaign,
): Promise<Refusal<'unknown_reference' | 'refused_reference' | 'taken'> | undefined> {
  const benefit_ids = [...new Set(drops.flatMap(drop => drop.benefit_ids))]
  const unknown = await refuseUnknown(tx, {
    organization: [organization_id],
    game: [game_id],
    benefit: benefit_ids,
    client: [link_client_id],
    user: channel_ids,
  })
  if (unknown !== undefined) return unknown
  const foreign = (what: string) => refuse('refused_reference', `${what} belongs to another organization.`)
  const game = await tx.get<{ organization_id: string | null }>(
    sql`select organization_id from games where id = ${game_id}`,
  )
  if ((game?.organization_id ?? organization_id) !== organization_id) return foreign(`The game "${game_id}"`)
  const benefits = await tx.all<{ id: string; organization_id: string; game_id: string | null }>(
    sql`select id, organization_id, game_id from benefits where ${isOneOf(sql`id`, benefit_ids)} order by id`,
  )
  for (const benefit of benefits) {
    if (benefit.organization_id !== organization_id) return foreign(`The benefit "${benefit.id}"`)
    if ((benefit.game_id ?? game_id) !== game_id)
      return refuse('refused_reference', `The benefit "${benefit.id}" belongs to another game.`)
  }
  const client = await tx.get<{ organization_id: string | null }>(
    sql`select organization_id from clients where id = ${link_client_id ?? ''}`,
  )
  if (client !== undefined && client.organization_id !== organization_id)
    return foreign(`The client "${link_client_id}"`)
  const elsewhere = await tx.get<{ id: string }>(
    sql`select id from campaign_drops where campaign_id <> ${id}
          and ${isOneOf(
            sql`id`,
            drops.map(drop => drop.id),
          )} order by id limit 1`,
  )
  return elsewhere && refuse('taken', 'drop id', elsewhere.id)
}

/** Refuses a campaign that would count at the same time as too many others of its game (D-213). */
async function refuseCrowd(
  tx: Transaction,
  campaign: StoredCampaign,
): Promise<Refusal<'too_many_campaigns'> | undefined> {
  // Of two publications at once, the second sees the first.
  await tx.lock(sql`select id from games where id = ${campaign.game_id}`, 'games')
  const running = await campaignQueries(tx).ofGame(campaign.game_id, campaign.starts_at)
  const own = readTimes(campaign)
  const spans = running.filter(({ id }) => id !== campaign.id).map(readTimes)
  const together = spans.filter(({ starts, ends }) => starts < own.ends && own.starts < ends)
  const within = together.map(({ starts, ends }) => ({ starts: Math.max(starts, own.starts), ends }))
  return maxConcurrent(within) < MAX_CONCURRENT ? undefined : refuse('too_many_campaigns', MAX_CONCURRENT)
}

async function writeDrops(
  tx: Transaction,
  before: readonly CampaignDrop[],
  { id: campaign_id, drops }: StoredCampaign,
): Promise<void> {
  if (Bun.deepEquals(before, drops)) return
  const kept = new Set(drops.map(({ id }) => id))
  const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
  await tx.run(sql`delete from campaign_drops where ${isOneOf(sql`id`, gone)}`)
  for (const [place, { id, name, required_minutes }] of drops.entries())
    await tx.run(
      sql`insert into campaign_drops (id, campaign_id, place, name, required_minutes)
          values (${id}, ${campaign_id}, ${place}, ${name}, ${required_minutes})
          on conflict (id) do update set place = excluded.place, name = excluded.name,
            required_minutes = excluded.required_minutes`,
    )
  await tx.run(sql`delete from campaign_drop_benefits where ${isOneOf(sql`drop_id`, [...kept])}`)
  const given = drops.flatMap(({ id, benefit_ids }) =>
    benefit_ids.map((benefit_id, place) => ({ id, benefit_id, place })),
  )
  await insertRows(
    tx,
    'insert into campaign_drop_benefits (drop_id, benefit_id, place)',
    given,
    ({ id, benefit_id, place }) => [id, benefit_id, place],
  )
}

async function writeChannels(
  tx: Transaction,
  before: readonly string[],
  { id, channel_ids }: StoredCampaign,
): Promise<void> {
  const [had, has] = [new Set(before), new Set(channel_ids)]
  const gone = before.filter(user_id => !has.has(user_id))
  if (gone.length > 0)
    await tx.run(
      sql`delete from campaign_channels where campaign_id = ${id} and ${isOneOf(sql`user_id`, gone)}`,
    )
  const added = channel_ids.filter(user_id => !had.has(user_id))
  await insertRows(tx, 'insert into campaign_channels (campaign_id, user_id)', added, user_id => [
    id,
    user_id,
  ])
}

/** Publishes a draft, or continues a stopped campaign. One that is published stays as it is. */
export async function publishCampaign(
  tx: Transaction,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<
  StoredCampaign | Refusal<'not_found' | 'malformed_parameter' | 'campaign_incomplete' | 'too_many_campaigns'>
> {
  const before = await lockCampaign(tx, id)
  if (before === undefined) return refuse('not_found', 'campaign', id)
  if (before.state === 'published') return publicCampaign(before)
  const after: NumberedCampaign = {
    ...before,
    state: 'published',
    stopped_at: null,
    pauses: before.stopped_at === null ? before.pauses : withPause(before, before.stopped_at, now),
  }
  const refused = checkPublish(before, now) ?? (await refuseCrowd(tx, after))
  if (refused !== undefined) return refused
  await campaignColumns.update(tx, after)
  return settle(tx, before, after)
}

function withPause(
  { pauses }: NumberedCampaign,
  stopped_at: string,
  now: number,
): NumberedCampaign['pauses'] {
  const recent = pauses.filter(([, to]) => now - to < PAUSES_KEPT_MILLISECONDS)
  return [...recent, [Date.parse(stopped_at), now]]
}

/** Ends counting now, and starts the claim window. One that is stopped stays as it is. */
export async function stopCampaign(
  tx: Transaction,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<StoredCampaign | Refusal<'not_found' | 'campaign_draft'>> {
  const before = await lockCampaign(tx, id)
  if (before === undefined) return refuse('not_found', 'campaign', id)
  if (before.state === 'draft') return refuse('campaign_draft')
  if (before.state === 'stopped') return publicCampaign(before)
  const after: NumberedCampaign = { ...before, state: 'stopped', stopped_at: isoMillis(now) }
  await campaignColumns.update(tx, after)
  return settle(tx, before, after)
}

/** Deletes a campaign in which no viewer has minutes or claims. */
export async function deleteCampaign(
  tx: Transaction,
  { id }: { readonly id: string },
): Promise<Refusal<'not_found' | 'in_use'> | undefined> {
  const before = await lockCampaign(tx, id)
  if (before === undefined) return refuse('not_found', 'campaign', id)
  const used = await tx.get(
    sql`select 1 as yes where exists (select 1 from drop_progress where campaign = ${before.number})
          or exists (select 1 from drop_claims where ${isOneOf(
            sql`drop_id`,
            before.drops.map(drop => drop.id),
          )})`,
  )
  if (used !== undefined)
    return refuse('in_use', 'Viewers have minutes or claims in this campaign; stop it instead.')
  await tx.run(sql`delete from campaigns where id = ${id}`)
  tx.publish({ kind: 'campaign', id, campaign: null })
  tx.record({ subject: `campaign/${id}`, before: publicCampaign(before) })
  return undefined
}

async function lockCampaign(tx: Transaction, id: string): Promise<NumberedCampaign | undefined> {
  await tx.lock(sql`select id from campaigns where id = ${id}`, 'campaigns')
  return campaignQueries(tx).find(id)
}

/** Reports a change to all nodes and to the audit log. */
function settle(
  tx: Transaction,
  before: NumberedCampaign | undefined,
  after: NumberedCampaign,
): StoredCampaign {
  const campaign = publicCampaign(after)
  tx.publish({ kind: 'campaign', id: campaign.id, campaign: campaign.state === 'draft' ? null : campaign })
  tx.record({ subject: `campaign/${campaign.id}`, before: before && publicCampaign(before), after: campaign })
  return campaign
}
