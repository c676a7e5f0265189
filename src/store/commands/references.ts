import type { Transaction } from '../database.ts'
import { isOneOf, sql, verbatim } from '../sql/tag.ts'

/** Something was named that does not exist. */
export interface MissingReference {
  readonly outcome: 'unknown_reference'
  readonly kind: ReferenceKind
  readonly id: string
}

const TABLES = {
  user: 'users',
  organization: 'organizations',
  game: 'games',
  benefit: 'benefits',
  client: 'clients',
} as const
export type ReferenceKind = keyof typeof TABLES

/** The first of these ids that names nothing, in the order given. Empty values are no reference. */
export async function missingReference(
  tx: Transaction,
  kind: ReferenceKind,
  ids: readonly (string | null | undefined)[],
): Promise<MissingReference | undefined> {
  const asked = [...new Set(ids.filter(id => id !== null && id !== undefined))]
  if (asked.length === 0) return undefined
  const rows = await tx.all<{ id: string }>(
    sql`select id from ${verbatim(TABLES[kind])} where ${isOneOf(sql`id`, asked)}`,
  )
  const known = new Set(rows.map(row => row.id))
  const id = asked.find(each => !known.has(each))
  return id === undefined ? undefined : { outcome: 'unknown_reference', kind, id }
}

/** Deletes a row by id; says whether it was there. */
export async function deleteById(tx: Transaction, kind: ReferenceKind, id: string): Promise<boolean> {
  return (await tx.run(sql`delete from ${verbatim(TABLES[kind])} where id = ${id}`)) > 0
}
