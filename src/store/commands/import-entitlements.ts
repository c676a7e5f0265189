import type { TransferLine } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { entitlementSubject } from '../queries/entitlements.ts'
import { isOneOf, lockRows, sql, tableOf } from '../sql/tag.ts'
import type { Fate } from './import.ts'

type Line = TransferLine<'entitlement'>

interface Row {
  readonly [column: string]: string
  readonly id: string
  readonly timestamp: string
  readonly fulfillment_status: string
  readonly last_updated: string
}

/**
 * Makes entitlements as they stand in the file. Of one that exists already the later state wins, so that an old file does
 * not take a fulfilment back. That its content is the same was made sure of.
 */
export async function importEntitlements(tx: Transaction, lines: readonly Line[]): Promise<Fate[]> {
  const known = await knownStates(tx, lines)
  const owners = await organizationsOfBenefits(tx, lines)
  const fresh: Row[] = []
  const moved: Row[] = []
  const fates = lines.map((line): Fate => {
    const row = rowOf(line, owners.get(line.benefit_id) ?? '')
    const before = known.get(line.id)
    if (before !== undefined && before.last_updated >= row.last_updated) return 'unchanged'
    known.set(row.id, row)
    if (before !== undefined) recordMove(tx, before, row)
    ;(before === undefined ? fresh : moved).push(row)
    return before === undefined ? 'created' : 'changed'
  })
  if (fresh.length > 0) await insert(tx, fresh)
  if (moved.length > 0) await move(tx, moved)
  return fates
}

/** A fulfilment that a file brings or takes is one like any other. */
function recordMove(tx: Transaction, before: Row, row: Row): void {
  tx.record({
    ...entitlementSubject(row),
    before: before.fulfillment_status,
    after: row.fulfillment_status,
  })
}

function rowOf(line: Line, organization_id: string): Row {
  return {
    id: line.id,
    organization_id,
    benefit_id: line.benefit_id,
    user_id: line.user_id,
    game_id: line.game_id,
    timestamp: line.timestamp,
    fulfillment_status: line.fulfillment_status ?? 'CLAIMED',
    last_updated: line.last_updated ?? line.timestamp,
  }
}

/** Held in the order of their ids, as by everybody who changes several. */
async function knownStates(tx: Transaction, lines: readonly Line[]): Promise<Map<string, Row>> {
  const rows = await tx.all<Row>(
    sql`select id, timestamp, fulfillment_status, last_updated from entitlements where ${isOneOf(
      sql`id`,
      lines.map(line => line.id),
    )} order by id${lockRows}`,
  )
  return new Map(rows.map(row => [row.id, row]))
}

async function organizationsOfBenefits(
  tx: Transaction,
  lines: readonly Line[],
): Promise<Map<string, string>> {
  const benefits = [...new Set(lines.map(line => line.benefit_id))]
  const rows = await tx.all<{ id: string; organization_id: string }>(
    sql`select id, organization_id from benefits where ${isOneOf(sql`id`, benefits)}`,
  )
  return new Map(rows.map(row => [row.id, row.organization_id]))
}

const COLUMNS = [
  'id',
  'organization_id',
  'benefit_id',
  'user_id',
  'game_id',
  'timestamp',
  'fulfillment_status',
  'last_updated',
]

async function insert(tx: Transaction, rows: readonly Row[]): Promise<void> {
  await tx.run(
    sql`insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
        select id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated
        from ${tableOf(rows, COLUMNS)} as given`,
  )
}

async function move(tx: Transaction, rows: readonly Row[]): Promise<void> {
  await tx.run(
    sql`update entitlements set fulfillment_status = given.fulfillment_status, last_updated = given.last_updated
        from ${tableOf(rows, ['id', 'fulfillment_status', 'last_updated'])} as given
        where entitlements.id = given.id`,
  )
}
