/**
 * Indexes of the embedded store that a large import sets aside, and rebuilds at its end. An index in another order than the
 * lines changes a page for almost every row; building it from the complete table sorts once. What is missing is a fact of the
 * store, so the process that opens it after a crash of the import rebuilds it (`engines/sqlite-indexes.ts`). Queries are
 * slower meanwhile, never wrong: unique indexes stay.
 */
import type { Transaction } from '../database.ts'
import { limitedTo, sql, verbatim } from '../sql/tag.ts'
import { noteFact } from './upkeep.ts'

export const INDEXES_SET_ASIDE = 'indexes_set_aside'

interface Index {
  readonly name: string
  /** The statement that creates it. */
  readonly sql: string
}

/** Sets the indexes of a table aside if fewer rows exist than will come. Returns whether it did. */
export async function setAsideIndexes(
  tx: Transaction,
  { table, rowsToCome }: { table: 'organization_entitlements'; rowsToCome: number },
): Promise<boolean> {
  const existing = await tx.get<{ rows: number }>(
    sql`select count(*) as rows from (select 1 from ${verbatim(table)}${limitedTo(rowsToCome)}) as some`,
  )
  if (Number(existing?.rows) >= rowsToCome) return false
  const indexes = await tx.all<Index>(
    sql`select name, sql from sqlite_schema where type = 'index' and tbl_name = ${table}
        and sql is not null and sql not like 'create unique %'`,
  )
  for (const { name } of indexes) await tx.run(sql`drop index ${verbatim(name)}`)
  await noteMissing(tx, [...(await missingIndexes(tx)), ...indexes.map(index => index.sql)])
  return true
}

/** Rebuilds one index. Returns how many are still missing. */
export async function restoreIndex(tx: Transaction, _: object): Promise<number> {
  const [first, ...others] = await missingIndexes(tx)
  if (first === undefined) return 0
  await tx.run(verbatim(first))
  await noteMissing(tx, others)
  return others.length
}

async function missingIndexes(tx: Transaction): Promise<readonly string[]> {
  const fact = await tx.get<{ value: string }>(sql`select value from facts where name = ${INDEXES_SET_ASIDE}`)
  return fact === undefined ? [] : (JSON.parse(fact.value) as string[])
}

async function noteMissing(tx: Transaction, statements: readonly string[]): Promise<void> {
  if (statements.length > 0)
    await noteFact(tx, { name: INDEXES_SET_ASIDE, value: JSON.stringify(statements) })
  else await tx.run(sql`delete from facts where name = ${INDEXES_SET_ASIDE}`)
}
