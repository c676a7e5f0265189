/**
 * The data of a demo, copied within the store: a reset that copies rows back is faster than one that runs the commands that
 * made them. Copies are tables without indexes beside the originals.
 */
import type { Transaction } from '../database.ts'
import { overridingIdentity, sql, verbatim } from '../sql/tag.ts'
import { WORLD_TABLES } from '../tables.ts'
import { clearEverything } from './clear-everything.ts'

const snapshotTable = (table: string) => verbatim(`snapshot_${table}`)

export async function saveSnapshot(tx: Transaction, _args: Record<never, never>): Promise<void> {
  await dropSnapshot(tx, {})
  for (const table of WORLD_TABLES)
    await tx.run(sql`create table ${snapshotTable(table)} as select * from ${verbatim(table)}`)
}

/** Referenced tables come before referencing ones. */
export async function restoreSnapshot(tx: Transaction, _args: Record<never, never>): Promise<void> {
  await clearEverything(tx, {})
  for (const table of WORLD_TABLES.toReversed()) await copyBack(tx, table)
  // Triggers have counted the follows a second time.
  await tx.run(sql`delete from follow_counts`)
  await copyBack(tx, 'follow_counts')
  // The feed has forked: any entry makes its followers reload everything.
  tx.publish({ kind: 'access', access: { tokens: [] } })
}

async function copyBack(tx: Transaction, table: (typeof WORLD_TABLES)[number]): Promise<void> {
  await tx.run(sql`insert into ${verbatim(table)}${overridingIdentity} select * from ${snapshotTable(table)}`)
}

export async function dropSnapshot(tx: Transaction, _args: Record<never, never>): Promise<void> {
  for (const table of WORLD_TABLES) await tx.run(sql`drop table if exists ${snapshotTable(table)}`)
}
