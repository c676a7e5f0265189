/**
 * Partitions by time. Nothing is copied: the table becomes the first partition of a new one, for all rows from before a date
 * in the future. A constraint proves beforehand that it has no others, so that attaching it reads no rows.
 */
import type { SQL } from 'bun'
import {
  boundCheck,
  boundOf,
  createPartition,
  neededFrom,
  startOf,
  type TimedGroup,
  type TimedTable,
} from '../partition-layout.ts'
import { buildIndex, dropIndex, type LabelledStep, transaction } from './labelled-step.ts'
import { indexLike, requireShape, type TableShape } from './table-shape.ts'

type Queryable = Pick<SQL, 'unsafe'>

/** The first partition ends with the next period, so that an interrupted run has at least that long to be continued. */
const PERIODS_OF_FIRST = 2

const first = (name: string) => `${name}_first`
const isOfFirst = (name: string) => name.endsWith('_first')

/** The steps that are left until the tables of a group have their partitions. */
export async function stepsOfTimed(
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

/** The steps that remove what an unfinished run has prepared. */
export async function abandonTimed(client: Queryable, { tables }: TimedGroup): Promise<LabelledStep[]> {
  const steps: LabelledStep[] = []
  for (const { name, index } of tables) {
    const { isPartitioned, indexes, checks } = await requireShape(client, name)
    if (isPartitioned) continue
    const built = indexes.map(each => each.name).filter(each => isOfFirst(each) || each === index?.name)
    steps.push(...built.map(dropIndex))
    if (checks.has(boundCheck(name)))
      steps.push(
        transaction(`remove the bound of ${name}`, [
          `alter table ${name} drop constraint if exists ${boundCheck(name)}`,
        ]),
      )
  }
  return steps
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
    steps.push(buildIndex(index, statement))
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
