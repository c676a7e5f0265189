import type { SQL } from 'bun'

type Queryable = Pick<SQL, 'unsafe'>

/** An index to build on one partition. */
export interface IndexPart {
  readonly index: string
  readonly statement: string
}

/** Names are at most so long. */
const MAX_NAME = 63

/**
 * PostgreSQL cannot build the index of a partitioned table concurrently. It is built on each partition instead; the index of
 * the whole table, created last, adopts those and builds nothing. Undefined if the table has no partitions.
 */
export async function partsOfIndex(
  client: Queryable,
  index: string,
  statement: string,
): Promise<readonly IndexPart[] | undefined> {
  const table = / on (\w+)/.exec(statement)?.[1] ?? ''
  const partitions: { name: string }[] = await client.unsafe(
    `select c.relname as name from pg_class p left join pg_inherits i on i.inhparent = p.oid
       left join pg_class c on c.oid = i.inhrelid
     where p.oid = to_regclass('${table}') and p.relkind = 'p' order by c.relname`,
  )
  if (partitions.length === 0) return undefined
  return partitions.map(({ name }) => {
    const part = partName(index, table, name)
    return {
      index: part,
      statement: statement
        .replace(` on ${table}`, ` on ${name}`)
        .replace(new RegExp(`(if not exists) ${index}\\b`), `$1 ${part}`),
    }
  })
}

/** Ends as the name of the partition does. */
function partName(index: string, table: string, partition: string): string {
  let shared = 0
  while (shared < table.length && table[shared] === partition[shared]) shared += 1
  const end = `_${partition.slice(shared).replace(/^_/, '')}`
  return `${index.slice(0, MAX_NAME - end.length)}${end}`
}

/** Whether an index exists on a partitioned table, so that it cannot be dropped concurrently. */
export async function isPartitionedIndex(client: Queryable, index: string): Promise<boolean> {
  const [found] = await client.unsafe(
    `select relkind = 'I' as partitioned from pg_class where oid = to_regclass('${index}')`,
  )
  return found?.partitioned ?? false
}
