/**
 * The steps that give a store partitions, while nodes use it. They are computed from the catalog: a step that was completed
 * is not among them, or has nothing left to do, so that an interrupted run continues where it stopped.
 *
 * - Entitlements are copied to a new table in batches. A trigger writes every change to both tables from before the first
 *   batch until the new one takes the place of the old.
 * - A table with partitions by time copies nothing: it becomes the first partition of a new table, for all rows from before
 *   a date in the future. A constraint proves beforehand that it has no others, so that attaching it reads no rows.
 */
import type { SQL } from 'bun'
import { OperatorError } from '../../kit/operator-error.ts'
import {
  boundCheck,
  boundOf,
  HASHED_COPY as COPY,
  createPartition,
  HASHED_TABLE,
  neededFrom,
  startOf,
  TIMED_GROUPS,
  type TimedGroup,
  type TimedTable,
} from '../partition-layout.ts'
import type { LabelledStep } from './postgres-migrate.ts'
import { indexLike, shapeOf, type TableShape } from './table-shape.ts'

type Queryable = Pick<SQL, 'unsafe'>

const AT_ONCE = 2000
/** How far the copy of the entitlements has come, and what keeps it in step. */
const COPIED = `${HASHED_TABLE}_copied`
/** The first partition ends with the next period, so that an interrupted run has at least that long to be continued. */
const PERIODS_OF_FIRST = 2

const first = (name: string) => `${name}_first`

export interface PartitionOptions {
  /** Partitions of the entitlements. */
  readonly count: number
  readonly now: number
}

/** All steps that are left. None if the store has partitions. */
export async function partitionSteps(
  client: Queryable,
  { count, now }: PartitionOptions,
): Promise<LabelledStep[]> {
  const steps = await stepsOfHashed(client, count)
  for (const [name, group] of Object.entries(TIMED_GROUPS))
    steps.push(...(await stepsOfTimed(client, name, group, now)))
  return steps
}

/** The steps that remove what an interrupted run has left. Tables that have their partitions keep them. */
export async function abandonSteps(client: Queryable): Promise<LabelledStep[]> {
  const steps: LabelledStep[] = []
  const entitlements = await requireShape(client, HASHED_TABLE)
  if (!entitlements.isPartitioned && (await shapeOf(client, COPY)) !== undefined)
    steps.push(
      transaction(`remove the copy of ${HASHED_TABLE}`, [
        `drop trigger if exists ${COPIED} on ${HASHED_TABLE}`,
        `drop function if exists ${COPIED}()`,
        `drop table if exists ${COPIED}`,
        `drop table ${COPY}`,
      ]),
    )
  for (const { tables } of Object.values<TimedGroup>(TIMED_GROUPS)) {
    for (const { name, index } of tables) {
      const shape = await requireShape(client, name)
      if (shape.isPartitioned) continue
      const built = shape.indexes
        .map(each => each.name)
        .filter(each => isOfFirst(each) || each === index?.name)
      for (const each of built) {
        const statement = `drop index concurrently if exists ${each}`
        steps.push({ label: `drop index ${each}`, step: { kind: 'drop', index: each, statement } })
      }
      if (shape.checks.has(boundCheck(name)))
        steps.push(
          transaction(`remove the bound of ${name}`, [
            `alter table ${name} drop constraint if exists ${boundCheck(name)}`,
          ]),
        )
    }
  }
  return steps
}

const isOfFirst = (name: string) => name.endsWith('_first')

const transaction = (label: string, statements: readonly string[]): LabelledStep => ({
  label,
  step: { kind: 'transaction', statements },
})

const build = (index: string, statement: string): LabelledStep => ({
  label: `build index ${index}`,
  step: {
    kind: 'build',
    index,
    statement: statement.replace(/^create (unique )?index/, 'create $1index concurrently'),
  },
})

async function requireShape(client: Queryable, name: string): Promise<TableShape> {
  const shape = await shapeOf(client, name)
  if (shape === undefined) throw new OperatorError(`there is no table ${name}: run strand migrate first`)
  return shape
}

async function stepsOfHashed(client: Queryable, count: number): Promise<LabelledStep[]> {
  const shape = await requireShape(client, HASHED_TABLE)
  if (shape.isPartitioned) return []
  const copy = await shapeOf(client, COPY)
  if (copy !== undefined) await requireSameCopy(client, shape, copy, count)
  const key = shape.key.columns.join(', ')
  const unique = shape.indexes.filter(index => index.isUnique)
  const others = shape.indexes.filter(index => !index.isUnique)
  // Until the copy takes their place, the indexes of the table have their names.
  const named = (name: string) => `${name}_partitioned`
  const partitions = Array.from({ length: count }, (_, remainder) => `${HASHED_TABLE}_${remainder}`)
  const create = [
    `create table ${COPY} (like ${HASHED_TABLE} including defaults including storage including comments)
  partition by hash (id)`,
    ...partitions.map(
      (partition, remainder) =>
        `create table ${partition} partition of ${COPY} for values with (modulus ${count}, remainder ${remainder})`,
    ),
    `alter table ${COPY} add constraint ${named(shape.key.name)} primary key (${key})`,
    ...unique.map(({ name, definition }) => indexLike(definition, named(name), COPY, { unique: true })),
    ...shape.references.map(
      ({ name, definition }) => `alter table ${COPY} add constraint ${name} ${definition}`,
    ),
    `create table ${COPIED} as select cast(-2147483648 as integer) as organization,
  cast(-9223372036854775808 as bigint) as timestamp, cast('00000000-0000-0000-0000-000000000000' as uuid) as id`,
    copyFunction(shape),
    `create trigger ${COPIED} after insert or update or delete on ${HASHED_TABLE}
  for each row execute function ${COPIED}()`,
  ]
  return [
    ...(copy === undefined ? [transaction(`create ${COPY}`, create)] : []),
    { label: `copy ${HASHED_TABLE}`, step: { kind: 'repeat', statement: copyBatch(shape) } },
    // On each partition first; those of the whole table adopt them, and build nothing.
    ...others.flatMap(({ name, definition }) =>
      partitions.map((partition, index) =>
        build(`${name}_${index}`, indexLike(definition, `${name}_${index}`, partition)),
      ),
    ),
    transaction(
      `adopt the indexes of ${COPY}`,
      others.map(({ name, definition }) => indexLike(definition, named(name), COPY)),
    ),
    transaction(`count the rows of ${COPY}`, [requireSameCount, `analyze ${COPY}`]),
    transaction(`replace ${HASHED_TABLE}`, [
      `lock table ${HASHED_TABLE} in access exclusive mode`,
      `drop trigger ${COPIED} on ${HASHED_TABLE}`,
      `drop function ${COPIED}()`,
      `drop table ${COPIED}`,
      `drop table ${HASHED_TABLE}`,
      `alter table ${COPY} rename to ${HASHED_TABLE}`,
      ...[shape.key, ...shape.indexes].map(({ name }) => `alter index ${named(name)} rename to ${name}`),
    ]),
  ]
}

async function requireSameCopy(
  client: Queryable,
  shape: TableShape,
  copy: TableShape,
  count: number,
): Promise<void> {
  const [{ partitions }] = await client.unsafe(
    `select count(*)::int as partitions from pg_inherits where inhparent = to_regclass('${COPY}')`,
  )
  const advice = 'run strand partition --abandon first'
  if (partitions !== count)
    throw new OperatorError(
      `an interrupted run has begun with ${partitions} partitions, not ${count}: ${advice}`,
    )
  if (copy.columns.join() !== shape.columns.join())
    throw new OperatorError(`${HASHED_TABLE} has changed since a run was interrupted: ${advice}`)
}

/** Writes every change to the copy, too. A row that the copy does not have yet is added. */
function copyFunction({ columns, key }: TableShape): string {
  const set = columns
    .filter(column => !key.columns.includes(column))
    .map(column => `${column} = excluded.${column}`)
  return `create function ${COPIED}() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from ${COPY} where id = old.id;
    return null;
  end if;
  insert into ${COPY} (${columns.join(', ')}) values (${columns.map(column => `new.${column}`).join(', ')})
    on conflict (id) do update set ${set.join(', ')};
  return null;
end $$`
}

/**
 * Copies the next rows in the order of the primary key, and notes how far it has come. A row that is there was written by
 * the trigger, and is newer.
 */
function copyBatch({ columns, key }: TableShape): string {
  const list = columns.join(', ')
  const keys = key.columns.join(', ')
  const descending = key.columns.map(column => `${column} desc`).join(', ')
  return `with batch as (
  select ${list} from ${HASHED_TABLE} where (${keys}) > (select ${keys} from ${COPIED})
  order by ${keys} limit ${AT_ONCE}),
copied as (insert into ${COPY} (${list}) select ${list} from batch on conflict (id) do nothing),
noted as (update ${COPIED} set (${keys}) = (select ${keys} from batch order by ${descending} limit 1)
  where exists (select 1 from batch))
select 1 from batch`
}

/** The trigger writes in the transaction of the change, so both tables have the same rows in every snapshot. */
const requireSameCount = `do $$
declare missing bigint;
begin
  select (select count(*) from ${HASHED_TABLE}) - (select count(*) from ${COPY}) into missing;
  if missing <> 0 then
    raise exception 'the copy differs by % rows: run strand partition --abandon and begin again', missing;
  end if;
end $$`

async function stepsOfTimed(
  client: Queryable,
  name: string,
  group: TimedGroup,
  now: number,
): Promise<LabelledStep[]> {
  const shapes = await Promise.all(group.tables.map(table => requireShape(client, table.name)))
  if (shapes.every(shape => shape.isPartitioned)) return []
  const tables = group.tables.map((table, index) => ({ table, shape: shapes[index] as TableShape }))
  const until = startOf(group.period, now, PERIODS_OF_FIRST)
  const isBound = ({ table, shape }: Timed) =>
    shape.checks.get(boundCheck(table.name))?.definition.includes(boundOf(table, until)) ?? false
  const bound = tables.filter(each => !isBound(each))
  const unproved = tables.filter(
    each => !isBound(each) || !each.shape.checks.get(boundCheck(each.table.name))?.isValid,
  )
  const dropped = shapes.flatMap(shape => shape.referencedBy)
  const droppedNames = new Set(dropped.map(reference => reference.name))
  return [
    ...(bound.length > 0
      ? [
          transaction(
            `bound ${name}`,
            bound.flatMap(each => addBound(each, until)),
          ),
        ]
      : []),
    ...unproved.map(({ table }) =>
      transaction(`check the bound of ${table.name}`, [
        `alter table ${table.name} validate constraint ${boundCheck(table.name)}`,
      ]),
    ),
    ...tables.flatMap(indexesOfFirst),
    transaction(`replace ${tables.map(({ table }) => table.name).join(' and ')}`, [
      `lock table ${tables.map(({ table }) => table.name).join(', ')} in access exclusive mode`,
      // No constraint can refer to a number that is unique by its origin only. Deliveries are deleted with or before events.
      ...dropped.map(({ table, name }) => `alter table ${table} drop constraint ${name}`),
      ...tables.flatMap(each => replaceTimed(group, each, until, droppedNames)),
    ]),
  ]
}

interface Timed {
  readonly table: TimedTable
  readonly shape: TableShape
}

function addBound({ table }: Timed, until: number): string[] {
  const [check, bound] = [boundCheck(table.name), boundOf(table, until)]
  return [
    `alter table ${table.name} drop constraint if exists ${check}`,
    `alter table ${table.name} add constraint ${check} check (${table.column} < ${bound}) not valid`,
  ]
}

/** A unique index of a partitioned table must contain the column of its partitions. */
const keyWith = ({ table, shape }: Timed) =>
  shape.key.columns.includes(table.column) ? shape.key.columns : [...shape.key.columns, table.column]

/** The indexes that the first partition needs and the table does not have. */
function indexesOfFirst({ table, shape }: Timed): LabelledStep[] {
  const key = keyWith({ table, shape })
  const steps: LabelledStep[] = []
  const add = (index: string, statement: string) => {
    steps.push(build(index, statement))
  }
  if (key !== shape.key.columns)
    add(
      first(shape.key.name),
      `create unique index if not exists ${first(shape.key.name)} on ${table.name} (${key.join(', ')})`,
    )
  for (const { name, definition } of uniqueOf(shape))
    add(first(name), indexLike(definition, first(name), table.name))
  if (table.index !== undefined)
    add(table.index.name, `create index if not exists ${table.index.name} on ${table.name} ${table.index.on}`)
  return steps
}

/** Those of the table itself, not those that were built for the first partition. */
const indexesOf = (shape: TableShape) => shape.indexes.filter(({ name }) => !isOfFirst(name))
const uniqueOf = (shape: TableShape) => indexesOf(shape).filter(index => index.isUnique)

function replaceTimed(
  group: TimedGroup,
  { table, shape }: Timed,
  until: number,
  dropped: ReadonlySet<string>,
): string[] {
  const { name, column, index } = table
  const [old, key] = [first(name), keyWith({ table, shape })]
  const plain = indexesOf(shape).filter(each => !each.isUnique && each.name !== index?.name)
  return [
    `alter table ${name} rename to ${old}`,
    ...(key === shape.key.columns
      ? [`alter index ${shape.key.name} rename to ${first(shape.key.name)}`]
      : [
          `alter table ${old} drop constraint ${shape.key.name}`,
          `alter table ${old} add constraint ${first(shape.key.name)} primary key using index ${first(shape.key.name)}`,
        ]),
    ...uniqueOf(shape).map(unique =>
      unique.isConstraint ? `alter table ${old} drop constraint ${unique.name}` : `drop index ${unique.name}`,
    ),
    ...plain.map(each => `alter index ${each.name} rename to ${first(each.name)}`),
    ...(index === undefined ? [] : [`alter index ${index.name} rename to ${first(index.name)}`]),
    `create table ${name} (like ${old} including defaults including storage including comments)
  partition by range (${column})`,
    ...(shape.identity === undefined
      ? []
      : [
          `alter table ${name} alter column ${shape.identity} add generated always as identity`,
          `select setval(pg_get_serial_sequence('${name}', '${shape.identity}'), nextval(pg_get_serial_sequence('${old}', '${shape.identity}')), false)`,
          `alter table ${old} alter column ${shape.identity} drop identity`,
        ]),
    `alter table ${name} add constraint ${shape.key.name} primary key (${key.join(', ')})`,
    ...[...uniqueOf(shape), ...plain].map(each => indexLike(each.definition, each.name, name)),
    ...(index === undefined ? [] : [`create index ${index.name} on ${name} ${index.on}`]),
    ...shape.references
      .filter(reference => !dropped.has(reference.name))
      .map(reference => `alter table ${name} add constraint ${reference.name} ${reference.definition}`),
    `alter table ${name} attach partition ${old} for values from (minvalue) to (${boundOf(table, until)})`,
    `alter table ${old} drop constraint ${boundCheck(name)}`,
    ...neededFrom(group.period, until).map(from => createPartition(group, table, from)),
    `create table ${name}_default partition of ${name} default`,
  ]
}
