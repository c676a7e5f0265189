import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, sql, verbatim } from '../sql/tag.ts'

const TABLES = {
  user: 'users',
  organization: 'organizations',
  game: 'games',
  benefit: 'benefits',
  client: 'clients',
  campaign: 'campaigns',
} as const
type References = { readonly [K in keyof typeof TABLES]?: readonly (string | null | undefined)[] }

/** Refuses the first id that does not exist, in the order given. Null and undefined are skipped. */
export async function refuseUnknown<N extends 'unknown_reference' | 'not_found' = 'unknown_reference'>(
  tx: Transaction,
  references: References,
  problem = 'unknown_reference' as N,
): Promise<Refusal<N> | undefined> {
  for (const [kind, ids] of Object.entries(references)) {
    const given = [...new Set(ids.filter(id => id !== null && id !== undefined))]
    if (given.length === 0) continue
    const rows = await tx.all<{ id: string }>(
      sql`select id from ${verbatim(TABLES[kind as keyof References])} where ${isOneOf(sql`id`, given)}`,
    )
    const known = new Set(rows.map(row => row.id))
    const unknown = given.find(each => !known.has(each))
    if (unknown !== undefined)
      return refuse<'unknown_reference' | 'not_found'>(problem, kind, unknown) as Refusal<N>
  }
  return undefined
}

/** The columns of a deleted row that the audit log keeps. */
const SHOWN = {
  user: 'id, login, display_name, description, broadcaster_type, created_at',
  organization: 'id, name',
  game: 'id, name, organization_id, igdb_id',
  benefit: 'id, name, organization_id, game_id',
} as const

/** Deletes a row by id and records its last state. */
export async function deleteById(
  tx: Transaction,
  kind: keyof typeof SHOWN,
  id: string,
): Promise<Refusal<'not_found'> | undefined> {
  const before = await tx.get(
    sql`delete from ${verbatim(TABLES[kind])} where id = ${id} returning ${verbatim(SHOWN[kind])}`,
  )
  if (before === undefined) return refuse('not_found', kind, id)
  tx.record({ subject: `${kind}/${id}`, before })
  return undefined
}
