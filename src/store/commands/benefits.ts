import type { Benefit } from '../../contract/resources/world.ts'
import type { Transaction } from '../database.ts'
import { benefitQueries } from '../queries/world.ts'
import { sql } from '../sql/tag.ts'
import { deleteById, type MissingReference, missingReference } from './references.ts'

/** Creates or changes a benefit. It never moves to another organization: its entitlements are that organization's. */
export async function putBenefit(
  tx: Transaction,
  args: {
    id: string
    name?: string | undefined
    organization_id?: string | undefined
    game_id?: string | null | undefined
  },
): Promise<
  | { outcome: 'done'; benefit: Benefit }
  | { outcome: 'field_missing'; field: 'name' | 'organization_id' }
  | { outcome: 'other_organization' }
  | MissingReference
> {
  await tx.lock(sql`select id from benefits where id = ${args.id}`, 'benefits')
  const before = await benefitQueries(tx).find(args.id)
  const name = args.name ?? before?.name
  const organization_id = args.organization_id ?? before?.organization_id
  if (name === undefined) return { outcome: 'field_missing', field: 'name' }
  if (organization_id === undefined) return { outcome: 'field_missing', field: 'organization_id' }
  if (before !== undefined && before.organization_id !== organization_id)
    return { outcome: 'other_organization' }
  const missing =
    (await missingReference(tx, 'organization', [organization_id])) ??
    (await missingReference(tx, 'game', [args.game_id]))
  if (missing !== undefined) return missing
  const game_id = args.game_id === undefined ? (before?.game_id ?? null) : args.game_id
  await tx.run(
    sql`insert into benefits (id, name, organization_id, game_id)
        values (${args.id}, ${name}, ${organization_id}, ${game_id})
        on conflict (id) do update set name = excluded.name, game_id = excluded.game_id`,
  )
  const benefit: Benefit = { id: args.id, name, organization_id, game_id }
  tx.record({ subject: `benefit/${args.id}`, before, after: benefit })
  return { outcome: 'done', benefit }
}

export async function deleteBenefit(
  tx: Transaction,
  args: { id: string },
): Promise<'deleted' | 'absent' | 'in_use'> {
  const granted = await tx.get(sql`select 1 as yes from entitlements where benefit_id = ${args.id} limit 1`)
  if (granted !== undefined) return 'in_use'
  const before = await benefitQueries(tx).find(args.id)
  if (!(await deleteById(tx, 'benefit', args.id))) return 'absent'
  tx.record({ subject: `benefit/${args.id}`, before })
  return 'deleted'
}
