/**
 * Upkeep of a partitioned store on PostgreSQL, as commands of the sweep. Statements that need the lock of a whole table wait
 * for it a fraction of a second; if others keep it longer, they have changed nothing, and the next sweep tries again.
 */
import type { Transaction } from '../database.ts'
import {
  boundCheck,
  boundOf,
  createPartition,
  isBoundNear,
  neededFrom,
  PARTITION_STATE,
  type StoredPartition,
  TIMED_GROUPS,
  type TimedGroup,
  type TimedPartition,
  timedOf,
  UNFINISHED_TABLES,
  type UnfinishedTable,
} from '../partition-layout.ts'
import { sql, verbatim } from '../sql/tag.ts'

const LOCK_MILLISECONDS = 400

/** Creates partitions for what will be written soon. Returns how many. Also ends what an unfinished run would refuse. */
export async function createPartitions(tx: Transaction, { now }: { now: number }): Promise<number> {
  const stored = await readStored(tx)
  for (const begun of await tx.all<UnfinishedTable>(verbatim(UNFINISHED_TABLES))) {
    const { table } = begun
    if (isBoundNear(begun, now))
      await tryToRun(tx, [`alter table ${table} drop constraint if exists ${boundCheck(table)}`])
  }
  for (const group of Object.values<TimedGroup>(TIMED_GROUPS)) {
    const existing = partitionsOf(group, stored)
    if (existing.length === 0) continue
    for (const from of neededFrom(group.period, now)) {
      const isCovered = existing.some(each => (each.from ?? from) <= from && from < each.until)
      // All tables of a group or none, so that they have the same bounds.
      const create = group.tables.map(table => createPartition(group, table, from))
      if (!isCovered) await tryToRun(tx, create)
    }
  }
  return (await readStored(tx)).length - stored.length
}

/**
 * Drops the oldest partition of the audit log if all of it is from before `before`, with that of the entitlements that it
 * changed. Returns whether it did. Chains stay provable: their heads record where the rest begins. If the clock was set back
 * and a chain has older rows elsewhere, the partition stays until these are deleted one by one.
 */
export async function dropAuditPartition(tx: Transaction, { before }: { before: number }): Promise<boolean> {
  const [audit, changed] = await oldest(tx, TIMED_GROUPS.audit, before)
  if (audit === undefined || changed === undefined) return false
  const [table] = TIMED_GROUPS.audit.tables
  const outside = [
    `a.at >= ${boundOf(table, audit.until)}`,
    ...(audit.from === undefined ? [] : [`a.at < ${boundOf(table, audit.from)}`]),
  ]
  const older = await tx.get(
    verbatim(`select 1 from audit_heads h cross join lateral (select max(seq) as seq from ${audit.name} where chain = h.chain) newest
      where exists (select 1 from audit a where a.chain = h.chain and a.seq < newest.seq and (${outside.join(' or ')}))`),
  )
  if (older !== undefined) return false
  return tryToDrop(tx, audit, [
    // First the heads, as writers do, and then the tables.
    `update audit_heads h set begins_after_seq = newest.seq, begins_after_hash = newest.hash
     from (select of.chain, last.seq, last.hash from audit_heads of
       cross join lateral (select seq, hash from ${audit.name} where chain = of.chain order by seq desc limit 1) last) newest
     where newest.chain = h.chain and newest.seq > h.begins_after_seq`,
    'lock table audit, audit_entitlements in access exclusive mode',
    `drop table ${audit.name}, ${changed.name}`,
  ])
}

/**
 * The same for events and their deliveries. It stays while a message of it is still to be sent. Messages without an event,
 * which live as long as their subscription, move to the default partition.
 */
export async function dropEventPartition(tx: Transaction, { before }: { before: number }): Promise<boolean> {
  const [events, deliveries] = await oldest(tx, TIMED_GROUPS.events, before)
  if (events === undefined || deliveries === undefined) return false
  const pending = `select 1 from ${deliveries.name} where due_at is not null`
  if ((await tx.get(verbatim(`${pending} limit 1`))) !== undefined) return false
  const columns = await tx.all<{ name: string }>(
    sql`select attname as name from pg_attribute
        where attrelid = to_regclass('event_deliveries') and attnum > 0 and not attisdropped order by attnum`,
  )
  const list = columns.map(({ name }) => name).join(', ')
  return tryToDrop(tx, deliveries, [
    'lock table event_subscriptions, events, event_deliveries in access exclusive mode',
    `if exists (${pending}) then return; end if`,
    `alter table event_deliveries detach partition ${deliveries.name}`,
    `insert into event_deliveries (${list}) overriding system value
     select ${list} from ${deliveries.name} where event_seq is null`,
    `drop table ${deliveries.name}, ${events.name}`,
  ])
}

const readStored = (tx: Transaction) => tx.all<StoredPartition>(verbatim(PARTITION_STATE))

/** The partitions of a group, those of its first table standing for all. */
const partitionsOf = ({ tables: [table] }: TimedGroup, stored: readonly StoredPartition[]) =>
  table === undefined ? [] : timedOf(stored, table.name)

/** The oldest partition of each table, if all of its rows are from before `before`. */
async function oldest(
  tx: Transaction,
  { tables }: TimedGroup,
  before: number,
): Promise<(TimedPartition | undefined)[]> {
  const stored = await readStored(tx)
  return tables.map(({ name }) => timedOf(stored, name).find(({ until }) => until <= before))
}

async function tryToDrop(
  tx: Transaction,
  { name }: TimedPartition,
  statements: readonly string[],
): Promise<boolean> {
  await tryToRun(tx, statements)
  return (await tx.get(sql`select 1 where to_regclass(${name}) is null`)) !== undefined
}

/** Runs all statements or, if a lock is not free or the default partition has rows of a new one, none of them. */
async function tryToRun(tx: Transaction, statements: readonly string[]): Promise<void> {
  await tx.run(verbatim(`set local lock_timeout = ${LOCK_MILLISECONDS}`))
  await tx.run(
    verbatim(`do $$ begin
${statements.join(';\n')};
exception when lock_not_available or deadlock_detected or check_violation then null;
end $$`),
  )
}
