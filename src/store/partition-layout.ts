/**
 * The layout of a partitioned store on PostgreSQL: which tables have partitions, of what, and how those are named. Tables
 * whose rows are deleted by age have a partition for each month or week in UTC, so that retention drops a table instead of
 * deleting rows. Tables that refer to each other have the same bounds.
 */
import { isoMillis } from '../kit/clock.ts'

type Period = 'month' | 'week'

/** A table with partitions by time. */
export interface TimedTable {
  readonly name: string
  readonly column: string
  /** Whether the column has Unix milliseconds; otherwise it has text. */
  readonly isNumber?: boolean
  /** An index for retention that only this layout needs: its name, and what follows the table. */
  readonly index?: { readonly name: string; readonly on: string }
}

export interface TimedGroup {
  readonly period: Period
  readonly tables: readonly TimedTable[]
}

export const HASHED_TABLE = 'organization_entitlements'

export const TIMED_GROUPS = {
  audit: {
    period: 'month',
    tables: [
      { name: 'audit', column: 'at' },
      { name: 'audit_entitlements', column: 'at', isNumber: true },
    ],
  },
  events: {
    period: 'week',
    tables: [
      { name: 'events', column: 'occurred_at' },
      {
        name: 'event_deliveries',
        column: 'created_at',
        index: { name: 'event_deliveries_without_event', on: '(seq) where event_seq is null' },
      },
    ],
  },
} as const satisfies Record<string, TimedGroup>

export const TIMED_TABLES: readonly string[] = Object.values(TIMED_GROUPS).flatMap(({ tables }) =>
  tables.map(({ name }) => name),
)
const PARTITIONED_TABLES = [HASHED_TABLE, ...TIMED_TABLES]

/** A partition by time, in Unix milliseconds. The first of a table begins with its oldest row. */
export interface TimedPartition {
  readonly table: string
  readonly name: string
  readonly from: number | undefined
  readonly until: number
}

const DAY_MILLISECONDS = 24 * 3600 * 1000

/** The start of the period that a time is in, or of one so many periods later. A week begins on Monday. */
export function startOf(period: Period, time: number, later = 0): number {
  const at = new Date(time)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  if (period === 'month') return Date.UTC(year, month + later)
  return Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)) + later * 7 * DAY_MILLISECONDS
}

/** `audit_2026_11`, `events_2026_11_16`. */
function partitionName({ period }: TimedGroup, table: string, from: number): string {
  return `${table}_${isoMillis(from)
    .slice(0, period === 'month' ? 7 : 10)
    .replaceAll('-', '_')}`
}

/** A time as a value of the column. */
export function boundOf({ isNumber }: TimedTable, time: number): string {
  return isNumber === true ? String(time) : `'${isoMillis(time)}'`
}

/** The statement that creates the partition of one period. */
export function createPartition(group: TimedGroup, table: TimedTable, from: number): string {
  const until = startOf(group.period, from, 1)
  return `create table if not exists ${partitionName(group, table.name, from)} partition of ${table.name}
  for values from (${boundOf(table, from)}) to (${boundOf(table, until)})`
}

/** Periods for which partitions exist in advance: a row without a partition goes to the default one, which is never dropped. */
const PERIODS_AHEAD = 3

/** When the periods begin that need a partition now. */
export function neededFrom(period: Period, now: number): number[] {
  return Array.from({ length: PERIODS_AHEAD + 1 }, (_, later) => startOf(period, now, later))
}

/** A row of `PARTITION_STATE`. */
export interface StoredPartition {
  readonly table: string
  readonly name: string
  readonly bound: string
}

/** What PostgreSQL reports: the partitions, and tables that an unfinished `strand partition` has prepared. */
export interface PartitionLayout {
  readonly stored: readonly StoredPartition[]
  readonly unfinished: readonly UnfinishedTable[]
}

/** A row of `UNFINISHED_TABLES`. */
export interface UnfinishedTable {
  readonly table: string
  /** The constraint on its rows, if it has one. */
  readonly bound: string | null
}

/** Every partition with its bound, as PostgreSQL writes it. */
export const PARTITION_STATE = `select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_class p join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
  where p.relkind = 'p' and p.relnamespace = cast(current_schema() as regnamespace)
    and p.relname in (${PARTITIONED_TABLES.map(name => `'${name}'`).join(', ')})
  order by p.relname, c.relname`

/** Undefined for one of another kind: by hash, or the default. */
function readTimed({ table, name, bound }: StoredPartition): TimedPartition | undefined {
  const [, from = '', until = ''] = /^FOR VALUES FROM \((.+)\) TO \('(.+)'\)$/.exec(bound) ?? []
  if (until === '') return undefined
  return {
    table,
    name,
    from: from === 'MINVALUE' ? undefined : timeOf(from.slice(1, -1)),
    until: timeOf(until),
  }
}

/** The partitions by time of one table, oldest first. */
export function timedOf(stored: readonly StoredPartition[], table: string): TimedPartition[] {
  return stored
    .flatMap(each => (each.table === table ? (readTimed(each) ?? []) : []))
    .sort((a, b) => a.until - b.until)
}

const timeOf = (text: string) => (text.includes('T') ? Date.parse(text) : Number(text))

/**
 * The time before which rows are deleted one by one. Younger rows go with their partition when the last of it has expired.
 * The first partition has all rows from before the store was partitioned, which would be kept too long.
 */
export function deletedBefore(partitions: readonly TimedPartition[], before: number): number {
  return (
    partitions.find(({ from, until }) => from !== undefined && from <= before && before < until)?.from ??
    before
  )
}

/** The constraint that an unfinished `strand partition` has put on a table: rows beyond a date in the future are refused. */
export const boundCheck = (table: string): string => `${table}_partition_bound`

/** The copy of the entitlements that an unfinished run is making. */
export const HASHED_COPY = `${HASHED_TABLE}_partitioned`

/** The tables that an unfinished run has begun with. */
export const UNFINISHED_TABLES = `select t.relname as table, pg_get_constraintdef(k.oid) as bound
  from pg_constraint k join pg_class t on t.oid = k.conrelid
  where t.relkind = 'r' and not t.relispartition and t.relnamespace = cast(current_schema() as regnamespace)
    and k.conname = t.relname || '_partition_bound'
  union all select '${HASHED_TABLE}', null where to_regclass('${HASHED_COPY}') is not null`

const NEAR_MILLISECONDS = 3 * DAY_MILLISECONDS

/** Whether the bound of an unfinished run comes so near that it has to go. */
export function isBoundNear({ bound }: UnfinishedTable, now: number): boolean {
  const time = /< '([^']+)'/.exec(bound ?? '')?.[1]
  return time !== undefined && timeOf(time) - now < NEAR_MILLISECONDS
}
