/**
 * Indexes of the embedded store that a large import drops, and builds at its end (`transfer/staging.ts`). Which are missing is a
 * fact of the store, so the process that opens it after a crash of the import builds them (`sqlite/sqlite-indexes.ts`). Queries
 * are slower meanwhile, never wrong: no transaction ends without the unique ones.
 */
import type { Transaction } from '../database.ts'
import { sql, verbatim } from '../sql/tag.ts'
import { setFact } from './cleanup.ts'

export const INDEXES_SET_ASIDE = 'indexes_set_aside'

/** Two threads sort rows of an index while this one reads them; each has as much memory as the cache of the connection. */
const SORTING = [verbatim('pragma threads = 2'), verbatim(`pragma cache_size = -${16 * 1024}`)]

/** Drops the indexes of a table. Returns the statements that create them. */
export async function dropIndexes(tx: Transaction, table: string): Promise<readonly string[]> {
  const indexes = await tx.all<{ name: string; sql: string }>(
    sql`select name, sql from sqlite_schema where type = 'index' and tbl_name = ${table} and sql is not null`,
  )
  for (const { name } of indexes) await tx.run(sql`drop index ${verbatim(name)}`)
  return indexes.map(index => index.sql)
}

/** Builds the unique ones of dropped indexes, and notes the others as missing. */
export async function buildUniqueIndexes(tx: Transaction, dropped: readonly string[]): Promise<void> {
  const isUnique = (statement: string) => /^create unique /i.test(statement)
  for (const setting of SORTING) await tx.all(setting)
  for (const statement of dropped.filter(isUnique)) await tx.run(verbatim(statement))
  await noteMissing(tx, [...(await missingIndexes(tx)), ...dropped.filter(each => !isUnique(each))])
}

/** Builds one missing index. Returns how many are still missing. */
export async function restoreIndex(tx: Transaction, _: object): Promise<number> {
  const [first, ...others] = await missingIndexes(tx)
  if (first === undefined) return 0
  for (const setting of SORTING) await tx.all(setting)
  await tx.run(verbatim(first))
  await noteMissing(tx, others)
  return others.length
}

async function missingIndexes(tx: Transaction): Promise<readonly string[]> {
  const fact = await tx.get<{ value: string }>(sql`select value from facts where name = ${INDEXES_SET_ASIDE}`)
  return fact === undefined ? [] : (JSON.parse(fact.value) as string[])
}

async function noteMissing(tx: Transaction, statements: readonly string[]): Promise<void> {
  if (statements.length > 0) await setFact(tx, { name: INDEXES_SET_ASIDE, value: JSON.stringify(statements) })
  else await tx.run(sql`delete from facts where name = ${INDEXES_SET_ASIDE}`)
}
