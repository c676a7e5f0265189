/**
 * Entitlements of a large import into the embedded store. Checked ones wait in a temporary table of the writer, so that nothing
 * is changed if a later line is wrong, and the writer works while the next lines are checked. Then one transaction adds them all
 * without any index and builds the unique one: an index in another order than the lines changes a page for almost every row,
 * and building it from the complete table sorts once. The other indexes follow in transactions of their own.
 *
 * SQLite keeps the table in a file without a name, outside the store, and does not wait for the disk to write it.
 */
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { uuidBytes, uuidText } from '../../kit/uuid.ts'
import { buildUniqueIndexes, dropIndexes } from '../commands/indexes.ts'
import { findNumbers } from '../commands/insert-entitlements.ts'
import type { Database, Transaction } from '../database.ts'
import { Conflict } from '../errors.ts'
import { insertRows } from '../insert-rows.ts'
import { storedStatus } from '../queries/entitlement-rows.ts'
import { isOneOf, limitedTo, sql } from '../sql/tag.ts'
import { entitlement, lineStatus, sameGrant } from './entitlements.ts'
import type { Counts, ImportResult } from './import-lines.ts'

interface StagingResult extends Pick<ImportResult, 'refused'> {
  /** How many are new. The others have a row, and are applied as lines. */
  readonly staged: number
}

/** Stages the new entitlements among lines, until this process ends. */
export async function stageEntitlements(
  tx: Transaction,
  { lines: all }: { lines: readonly TransferLine[] },
): Promise<StagingResult> {
  const lines = all.filter(line => line.type === 'entitlement')
  if (lines.length === 0) return { refused: [], staged: 0 }
  await createTables(tx)
  const benefits = await stageBenefits(tx, [...new Set(lines.map(line => line.benefit_id))])
  const before = await tx.get<{ place: number | null }>(
    sql`select max(place) as place from staged_entitlements`,
  )
  await insertRows(
    tx,
    'insert into staged_entitlements (timestamp, id, last_updated, benefit, fulfilled, user_id, game_id, campaign_id)',
    lines,
    line => {
      const timestamp = Date.parse(line.timestamp)
      return [
        timestamp,
        uuidBytes(line.id),
        line.last_updated === undefined ? timestamp : Date.parse(line.last_updated),
        assertDefined(benefits.get(line.benefit_id), 'the number of a staged benefit'),
        storedStatus(lineStatus(line)),
        line.user_id,
        line.game_id,
        line.campaign_id ?? null,
      ]
    },
  )
  const existing = await tx.all<{ id: Uint8Array }>(
    sql`delete from staged_entitlements where place > ${before?.place ?? 0}
          and exists (select 1 from organization_entitlements e where e.id = staged_entitlements.id)
        returning id`,
  )
  if (existing.length === 0) return { refused: [], staged: lines.length }
  const ids = existing.map(({ id }) => ({ id: uuidText(id) }))
  const rows = await entitlement.find(tx, ids)
  const refuseOther = await sameGrant(tx, lines, undefined)
  const refused = all.flatMap((line, index): [number, string][] => {
    const why = line.type === 'entitlement' ? refuseOther(line, rows.get(line.id), line.id) : undefined
    return why === undefined ? [] : [[index, why]]
  })
  return { refused, staged: lines.length - ids.length }
}

async function createTables(tx: Transaction): Promise<void> {
  await tx.run(
    sql`create temp table if not exists staged_benefits (staged integer primary key, benefit_id text unique)`,
  )
  await tx.run(
    sql`create temp table if not exists staged_entitlements (place integer primary key,
        timestamp integer, id blob, last_updated integer, benefit integer, fulfilled integer, user_id text, game_id text,
        campaign_id text)`,
  )
}

/** Their numbers until they are added: a benefit of the file is not in the store yet. */
async function stageBenefits(tx: Transaction, ids: readonly string[]): Promise<Map<string, number>> {
  for (const id of ids)
    await tx.run(sql`insert into staged_benefits (benefit_id) values (${id}) on conflict do nothing`)
  const rows = await tx.all<{ staged: number; benefit_id: string }>(
    sql`select staged, benefit_id from staged_benefits where ${isOneOf(sql`benefit_id`, ids)}`,
  )
  return new Map(rows.map(row => [row.benefit_id, row.staged]))
}

/** Whether building indexes of all rows after adding so many is faster than changing them. */
export async function hasFewerEntitlements(db: Database, than: number): Promise<boolean> {
  const found = await db.get<{ rows: number }>(
    sql`select count(*) as rows from (select 1 from organization_entitlements${limitedTo(than)}) as some`,
  )
  return Number(found?.rows) < than
}

/**
 * Adds the staged entitlements. One that another process has added meanwhile keeps the later state; if it was added with other
 * content, or something that one refers to was deleted, nothing is added. Neither is it if some are missing: the writer loses
 * its temporary tables when it has to open the store again.
 */
export async function addStagedEntitlements(tx: Transaction, { count }: { count: number }): Promise<Counts> {
  await createTables(tx)
  const staged = await tx.get<{ count: number }>(sql`select count(*) as count from staged_entitlements`)
  if (Number(staged?.count) !== count)
    throw new Conflict('entitlements that were checked are no longer there')
  const benefits = await tx.all<{ benefit_id: string; organization_id: string }>(
    sql`select benefit_id, coalesce(organization_id, '') as organization_id
        from staged_benefits left join benefits on benefits.id = benefit_id`,
  )
  const gone = benefits.find(({ organization_id }) => organization_id === '')
  if (gone !== undefined) throw new Conflict(`the benefit "${gone.benefit_id}" was deleted meanwhile`)
  await findNumbers(tx, 'organization', benefits)
  await findNumbers(tx, 'benefit', benefits)
  const indexes = await dropIndexes(tx, 'organization_entitlements')
  const written = await tx.run(
    sql`with numbered as materialized (
          select s.staged, o.number as organization, n.number as benefit
          from staged_benefits s join benefits b on b.id = s.benefit_id
            join entitlement_benefits n on n.benefit_id = b.id
            join entitlement_organizations o on o.organization_id = b.organization_id)
        insert into organization_entitlements
          (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id, campaign)
        select b.organization, e.timestamp, e.id, e.last_updated, b.benefit, e.fulfilled, e.user_id, e.game_id,
          (select number from campaigns c where c.id = e.campaign_id)
        from staged_entitlements e cross join numbered b on b.staged = e.benefit
        where true
        on conflict (organization, timestamp, id) do update
          set fulfilled = excluded.fulfilled, last_updated = excluded.last_updated
          where excluded.last_updated > organization_entitlements.last_updated`,
  )
  await buildUniqueIndexes(tx, indexes)
  await tx.run(sql`drop table staged_entitlements`)
  const counts = { created: written, changed: 0, unchanged: count - written }
  tx.record({ subject: 'import', after: { entitlement: counts } })
  return counts
}
