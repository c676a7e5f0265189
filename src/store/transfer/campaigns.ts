import { listReferences, type TransferLine } from '../../contract/resources/transfer.ts'
import { checkEdit, type StoredCampaign } from '../../domain/campaign.ts'
import { importCampaign } from '../commands/campaigns.ts'
import { lockViewers } from '../commands/lock-viewers.ts'
import type { Database } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import { orderBy } from '../keyset-order.ts'
import { campaignQueries, publicCampaign } from '../queries/campaigns.ts'
import { readUuid } from '../queries/entitlement-rows.ts'
import { isOneOf, limitedTo, type Scalar, sql, uuidValue, valuesTable, verbatim } from '../sql/tag.ts'
import { type Check, type CommandLines, hasValues, idClaim, oneByOne, type RowLines } from './line-type.ts'
import { lineReader, readAll } from './stored-rows.ts'

type CampaignLine = TransferLine<'campaign'>

const toLine = (campaign: StoredCampaign): CampaignLine => ({ type: 'campaign', ...campaign })

const DEFAULTS = {
  stopped_at: null,
  channel_ids: [],
  link_client_id: null,
  link_url: null,
}

/** The campaign of a line; what is left out is as in a new campaign, or as in the row. */
const toCampaign = ({ type: _, ...line }: CampaignLine, row?: CampaignLine): StoredCampaign => {
  const { type: __, ...stored } = row ?? { type: 'campaign', ...DEFAULTS }
  return { ...DEFAULTS, ...stored, ...line } as StoredCampaign
}

/** Benefits and channels, which lists refer to, exist or are in this file; drops belong to one campaign. */
const partsExist: Check<'campaign'> = async (db, lines, earlier) => {
  const lists = {
    benefit: lines.flatMap(line => line.drops.flatMap(drop => drop.benefit_ids)),
    user: lines.flatMap(line => line.channel_ids ?? []),
  }
  const missing = {
    benefit: await findMissing(db, 'benefits', lists.benefit),
    user: await findMissing(db, 'users', lists.user),
  }
  const taken = await db.all<{ id: string; campaign_id: string }>(
    sql`select id, campaign_id from campaign_drops where ${isOneOf(
      sql`id`,
      lines.flatMap(line => line.drops.map(drop => drop.id)),
    )}`,
  )
  const owners = new Map(taken.map(({ id, campaign_id }) => [id, campaign_id]))
  return line => {
    const named = { benefit: line.drops.flatMap(drop => drop.benefit_ids), user: line.channel_ids ?? [] }
    for (const kind of ['benefit', 'user'] as const) {
      const id = named[kind].find(each => missing[kind].has(each) && !earlier?.has(kind, each))
      if (id !== undefined) return `it names the ${kind} "${id}", which does not exist`
    }
    const drop = line.drops.find(({ id }) => (owners.get(id) ?? line.id) !== line.id)
    return drop && `the drop "${drop.id}" belongs to another campaign`
  }
}

async function findMissing(
  db: Database,
  table: 'benefits' | 'users',
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const named = new Set(ids)
  if (named.size === 0) return named
  const rows = await db.all<{ id: string }>(
    sql`select id from ${verbatim(table)} where ${isOneOf(sql`id`, [...named])}`,
  )
  return named.difference(new Set(rows.map(({ id }) => id)))
}

/** The rules of operators hold for imports too: what is promised does not get harder. */
const isAllowed: Check<'campaign'> = async () => (line, row) => {
  const before = row === undefined ? undefined : toCampaign(row)
  const refused = checkEdit(before, toCampaign(line, row), Date.parse(line.ends_at) - 1)
  return refused && `the field "${refused.details[0]}" of the campaign is not allowed (${refused.problem})`
}

export const campaign: CommandLines<'campaign'> = {
  type: 'campaign',
  table: 'campaigns',
  references: listReferences('campaign'),
  lineKey: line => (line as CampaignLine).id,
  find: async (db, lines) => {
    const found = await campaignQueries(db).named(lines.map(line => (line as CampaignLine).id))
    return new Map(found.map(each => [each.id, toLine(publicCampaign(each))]))
  },
  all: async function* (db, atOnce) {
    for (let after = ''; ; ) {
      const rows = await db.all<{ id: string }>(
        sql`select id from campaigns where id > ${after} order by id${limitedTo(atOnce)}`,
      )
      const found = await campaignQueries(db).named(rows.map(({ id }) => id))
      if (found.length > 0) yield found.map(each => toLine(publicCampaign(each)))
      if (rows.length < atOnce) return
      after = rows.at(-1)?.id ?? ''
    }
  },
  writes: 'commands',
  checks: [partsExist, isAllowed],
  claims: ({ id, drops }) => [
    idClaim('campaign', id),
    ...drops.map(drop => ({
      what: ['drop', drop.id],
      why: () => `the drop "${drop.id}" is in this file already`,
    })),
  ],
  isCurrent: hasValues,
  asStored: line => ({ ...line, ...(line.channel_ids && { channel_ids: [...line.channel_ids].sort() }) }),
  put: oneByOne((tx, { line, row }) => importCampaign(tx, toCampaign(line, row))),
}

type ProgressLine = TransferLine<'drop_progress'>

const progressKey = (line: object): string =>
  `${(line as ProgressLine).campaign_id} ${(line as ProgressLine).user_id}`

const progressRows = sql`select 'drop_progress' as type, c.id as campaign_id, p.user_id, p.minutes
  from drop_progress p join campaigns c on c.number = p.campaign`

/** The more minutes win, so that an old file takes none away. */
export const drop_progress: RowLines<'drop_progress'> = {
  type: 'drop_progress',
  table: 'drop_progress',
  references: listReferences('drop_progress'),
  lineKey: progressKey,
  find: async (db, lines) => {
    const named = lines as readonly ProgressLine[]
    const rows = await db.all<ProgressLine>(
      sql`${progressRows} where ${isOneOf(sql`p.user_id`, [...new Set(named.map(line => line.user_id))])}
            and ${isOneOf(sql`c.id`, [...new Set(named.map(line => line.campaign_id))])}`,
    )
    return new Map(rows.map(row => [progressKey(row), row]))
  },
  all: async function* (db, atOnce) {
    const findNext = (after: string) =>
      db.get<{ id: string; number: number }>(
        sql`select id, number from campaigns where id > ${after} order by id${limitedTo(1)}`,
      )
    for (let next = await findNext(''); next !== undefined; next = await findNext(next.id)) {
      const { id: campaign_id, number } = next
      for (let after = ''; ; ) {
        const rows = await db.all<{ user_id: string; minutes: number }>(
          sql`select user_id, minutes from drop_progress where campaign = ${number} and user_id > ${after}
              order by user_id${limitedTo(atOnce)}`,
        )
        if (rows.length > 0) yield rows.map(row => ({ type: 'drop_progress' as const, campaign_id, ...row }))
        if (rows.length < atOnce) break
        after = rows.at(-1)?.user_id ?? ''
      }
    }
  },
  writes: 'rows',
  checks: [],
  claims: () => [],
  isCurrent: (row, line) => row.minutes >= line.minutes,
  put: async (tx, changes) => {
    const rows = changes.map(({ line: { campaign_id, user_id, minutes } }) => ({
      campaign_id,
      user_id,
      minutes,
    }))
    await lockViewers(tx, [...new Set(rows.map(({ user_id }) => user_id))].sort())
    await tx.run(
      sql`insert into drop_progress (campaign, user_id, minutes)
          select c.number, g.user_id, cast(g.minutes as integer)
          from ${valuesTable(rows, ['campaign_id', 'user_id', 'minutes'])} as g join campaigns c on c.id = g.campaign_id
          where 1 = 1 order by 1, 2
          on conflict (campaign, user_id) do update set minutes = excluded.minutes`,
    )
  },
}

type ClaimLine = TransferLine<'drop_claim'>

const claimKey = (line: object): string => {
  const { user_id, drop_id, benefit_id } = line as ClaimLine
  return `${user_id} ${drop_id} ${benefit_id}`
}

const claimRows = sql`select user_id, drop_id, benefit_id, entitlement_id, claimed_at, source from drop_claims`
const readClaims = lineReader('drop_claim', { entitlement_id: readUuid })

const dropExists: Check<'drop_claim'> = async (db, lines, earlier) => {
  const ids = [...new Set(lines.map(line => line.drop_id))]
  const rows = await db.all<{ id: string }>(sql`select id from campaign_drops where ${isOneOf(sql`id`, ids)}`)
  const known = new Set(rows.map(({ id }) => id))
  return ({ drop_id }) =>
    known.has(drop_id) || earlier?.has('drop', drop_id)
      ? undefined
      : `"drop_id" names the drop "${drop_id}", which does not exist`
}

/** Claims do not change: one that exists stays as it is. */
export const drop_claim: RowLines<'drop_claim'> = {
  type: 'drop_claim',
  table: 'drop_claims',
  references: listReferences('drop_claim'),
  lineKey: claimKey,
  find: async (db, lines) => {
    const named = lines as readonly ClaimLine[]
    const rows = await db.all<Record<string, Scalar>>(
      sql`${claimRows} where ${isOneOf(sql`user_id`, [...new Set(named.map(line => line.user_id))])}
            and ${isOneOf(sql`drop_id`, [...new Set(named.map(line => line.drop_id))])}`,
    )
    return new Map(readClaims(rows).map(row => [claimKey(row), row]))
  },
  all: (db, atOnce) =>
    readAll(
      db,
      { select: claimRows, order: orderBy('user_id', 'drop_id', 'benefit_id') },
      readClaims,
      atOnce,
    ),
  writes: 'rows',
  checks: [dropExists],
  claims: () => [],
  isCurrent: () => true,
  put: async (tx, changes) => {
    await insertRows(
      tx,
      'insert into drop_claims (user_id, drop_id, benefit_id, entitlement_id, claimed_at, source)',
      changes.map(({ line }) => line),
      ({ user_id, drop_id, benefit_id, entitlement_id, claimed_at, source }) => [
        user_id,
        drop_id,
        benefit_id,
        uuidValue(entitlement_id),
        claimed_at,
        source,
      ],
    )
  },
}
