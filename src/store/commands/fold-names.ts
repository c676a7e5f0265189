import { fold } from '../../domain/fold.ts'
import type { Transaction } from '../database.ts'
import { limitedTo, sql, tableOf, verbatim } from '../sql/tag.ts'

/** Maximum names of one kind folded per call, so that the writer is never held for long. */
const AT_ONCE = 500

/**
 * Folds names for searches where that is missing: in a store of an earlier version, or written by a node of one. Returns how
 * many; call again until that is 0.
 */
export async function foldNames(tx: Transaction, _args: Record<never, never>): Promise<number> {
  const users = await foldColumn(tx, 'users', 'display_name', 'display_name_folded')
  return users + (await foldColumn(tx, 'games', 'name', 'name_folded'))
}

async function foldColumn(tx: Transaction, table: string, column: string, folded: string): Promise<number> {
  const rows = await tx.all<{ id: string; name: string }>(
    sql`select id, ${verbatim(column)} as name from ${verbatim(table)} where ${verbatim(folded)} is null
        order by id${limitedTo(AT_ONCE)}`,
  )
  if (rows.length === 0) return 0
  const names = rows.map(({ id, name }) => ({ id, name, folded: fold(name) }))
  await tx.run(
    sql`update ${verbatim(table)} set ${verbatim(folded)} = named.folded
        from ${tableOf(names, ['id', 'name', 'folded'])} as named
        where ${verbatim(table)}.id = named.id and ${verbatim(`${table}.${column}`)} = named.name`,
  )
  return rows.length
}
