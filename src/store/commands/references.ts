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

/** What the audit log keeps of a thing that was deleted: the columns that were shown of it. */
const SHOWN = {
  user: 'id, login, display_name, created_at',
  organization: 'id, name',
  game: 'id, name, organization_id',
  benefit: 'id, name, organization_id, game_id',
} as const

/** Deletes a row by id and records how it was; says whether it was there. */
export async function deleteById(tx: Transaction, kind: keyof typeof SHOWN, id: string): Promise<boolean> {
  const before = await tx.get(
    sql`delete from ${verbatim(TABLES[kind])} where id = ${id} returning ${verbatim(SHOWN[kind])}`,
  )
  if (before !== undefined) tx.record({ subject: `${kind}/${id}`, before })
  return before !== undefined
}
