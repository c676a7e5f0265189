import type { SQL } from 'bun'
import { OperatorError } from '../../kit/operator-error.ts'

type Queryable = Pick<SQL, 'unsafe'>

interface ShapedIndex {
  readonly name: string
  /** As PostgreSQL writes it. */
  readonly definition: string
  readonly isUnique: boolean
  /** Whether it belongs to a constraint, with which it is dropped. */
  readonly isConstraint: boolean
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * A table as the catalog of PostgreSQL has it, so that another with partitions can be made like it, whatever migrations came
 * before.
 */
export interface TableShape {
  readonly name: string
  readonly isPartitioned: boolean
  readonly columns: readonly string[]
  /** The column with generated numbers, if there is one. */
  readonly identity: string | undefined
  readonly key: { readonly name: string; readonly columns: readonly string[] }
  /** All but that of the primary key. */
  readonly indexes: readonly ShapedIndex[]
  readonly references: readonly ForeignKey[]
  readonly referencedBy: readonly ForeignKey[]
  /** Constraints on its rows, by name. */
  readonly checks: ReadonlyMap<string, { readonly definition: string; readonly isValid: boolean }>
}

/** Undefined if there is no such table. */
export async function shapeOf(client: Queryable, name: string): Promise<TableShape | undefined> {
  const [table] = await client.unsafe(
    `select c.oid, c.relkind = 'p' as partitioned from pg_class c where c.oid = to_regclass('${name}')`,
  )
  if (table === undefined) return undefined
  const columns: { name: string; identity: boolean; key: number | null }[] = await client.unsafe(
    `select a.attname as name, a.attidentity <> '' as identity,
       (select array_position(cast(k.conkey as int[]), cast(a.attnum as int)) from pg_constraint k
        where k.conrelid = a.attrelid and k.contype = 'p') as key
     from pg_attribute a where a.attrelid = ${table.oid} and a.attnum > 0 and not a.attisdropped order by a.attnum`,
  )
  const indexes: (ShapedIndex & { isKey: boolean })[] = await client.unsafe(
    `select i.relname as name, pg_get_indexdef(i.oid) as definition, x.indisunique as "isUnique",
       x.indisprimary as "isKey", k.oid is not null as "isConstraint"
     from pg_index x join pg_class i on i.oid = x.indexrelid
       left join pg_constraint k on k.conindid = i.oid and k.contype in ('p', 'u')
     where x.indrelid = ${table.oid} order by i.relname`,
  )
  const constraints: (ForeignKey & { kind: string; isValid: boolean; isOwn: boolean })[] =
    await client.unsafe(
      `select k.conname as name, t.relname as table, k.contype as kind, pg_get_constraintdef(k.oid) as definition,
       k.convalidated as "isValid", k.conrelid = ${table.oid} as "isOwn"
     from pg_constraint k join pg_class t on t.oid = k.conrelid
     where (k.conrelid = ${table.oid} and k.contype in ('c', 'f') or k.confrelid = ${table.oid}) and k.conparentid = 0
     order by k.conname`,
    )
  return {
    name,
    isPartitioned: table.partitioned,
    columns: columns.map(column => column.name),
    identity: columns.find(column => column.identity)?.name,
    key: {
      name: indexes.find(index => index.isKey)?.name ?? `${name}_pkey`,
      columns: columns
        .filter(column => column.key !== null)
        .sort((a, b) => Number(a.key) - Number(b.key))
        .map(column => column.name),
    },
    indexes: indexes.filter(index => !index.isKey),
    references: constraints.filter(({ kind, isOwn }) => kind === 'f' && isOwn),
    referencedBy: constraints.filter(({ kind, isOwn }) => kind === 'f' && !isOwn),
    checks: new Map(constraints.filter(({ kind }) => kind === 'c').map(each => [each.name, each])),
  }
}

export async function requireShape(client: Queryable, name: string): Promise<TableShape> {
  const shape = await shapeOf(client, name)
  if (shape === undefined) throw new OperatorError(`there is no table ${name}: run strand migrate first`)
  return shape
}

/** The statement for the same index on another table or under another name; `unique` if it stays that. */
export function indexLike(definition: string, name: string, table: string, { unique = false } = {}): string {
  return definition.replace(
    /^CREATE (?:UNIQUE )?INDEX \S+ ON (?:ONLY )?\S+ USING/,
    `create ${unique ? 'unique ' : ''}index if not exists ${name} on ${table} using`,
  )
}
