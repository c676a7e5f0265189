/**
 * Partitions of the entitlements. They are copied to a new table in batches. A trigger writes every change to both tables from
 * before the first batch until the new one takes the place of the old.
 */
import type { SQL } from 'bun'
import { OperatorError } from '../../kit/operator-error.ts'
import { HASHED_COPY as COPY, HASHED_TABLE } from '../partition-layout.ts'
import { buildIndex, type LabelledStep, transaction } from './labelled-step.ts'
import { indexLike, requireShape, shapeOf, type TableShape } from './table-shape.ts'

type Queryable = Pick<SQL, 'unsafe'>

const AT_ONCE = 2000
/** How far the copy has come, and what keeps it in step. */
const COPIED = `${HASHED_TABLE}_copied`

/** The steps that are left until the entitlements have their partitions. */
export async function stepsOfHashed(client: Queryable, count: number): Promise<LabelledStep[]> {
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
    `create table ${COPIED} as select cast(-2147483648 as integer) as organization,
  cast(-9223372036854775808 as bigint) as timestamp, cast('00000000-0000-0000-0000-000000000000' as uuid) as id`,
    copyFunction(shape),
    `create trigger ${COPIED} after insert or update or delete on ${HASHED_TABLE}
  for each row execute function ${COPIED}()`,
  ]
  return [
    ...(copy === undefined ? [transaction(`create ${COPY}`, create)] : []),
    { label: `copy ${HASHED_TABLE}`, step: { kind: 'repeat', statement: copyBatch(shape) } },
    ...(copy !== undefined && copy.references.length > 0 ? [] : referenceSteps(shape, partitions)),
    // On each partition first; those of the whole table adopt them, and build nothing.
    ...others.flatMap(({ name, definition }) =>
      partitions.map((partition, index) =>
        buildIndex(`${name}_${index}`, indexLike(definition, `${name}_${index}`, partition)),
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

/**
 * References are checked after the copy, all rows of a partition at once: one by one they take longer than the rest of it. The
 * rows are also in the table that is copied, which has the references.
 */
function referenceSteps({ references }: TableShape, partitions: readonly string[]): LabelledStep[] {
  const add = (table: string) =>
    references.map(each => `alter table ${table} add constraint ${each.name} ${each.definition}`)
  const drop = (table: string) =>
    references.map(({ name }) => `alter table ${table} drop constraint if exists ${name}`)
  return [
    transaction(
      `add the references of ${COPY}`,
      partitions.flatMap(partition => [
        ...drop(partition),
        ...add(partition).map(each => `${each} not valid`),
      ]),
    ),
    ...partitions.map(partition =>
      transaction(
        `check the references of ${partition}`,
        references.map(({ name }) => `alter table ${partition} validate constraint ${name}`),
      ),
    ),
    transaction(`adopt the references of ${COPY}`, add(COPY)),
  ]
}

/** The steps that remove an unfinished copy. */
export async function abandonHashed(client: Queryable): Promise<LabelledStep[]> {
  const { isPartitioned } = await requireShape(client, HASHED_TABLE)
  if (isPartitioned || (await shapeOf(client, COPY)) === undefined) return []
  return [
    transaction(`remove the copy of ${HASHED_TABLE}`, [
      `drop trigger if exists ${COPIED} on ${HASHED_TABLE}`,
      `drop function if exists ${COPIED}()`,
      `drop table if exists ${COPIED}`,
      `drop table ${COPY}`,
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
