import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Benefit } from '../../contract/resources/benefit.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import type { Transaction } from '../database.ts'
import { benefitColumns, benefitQueries } from '../queries/benefits.ts'
import { sql } from '../sql/tag.ts'
import { deleteById, refuseUnknown } from './references.ts'

/** Creates or changes a benefit. It never moves to another organization, because its entitlements belong to that one. */
export async function putBenefit(
  tx: Transaction,
  args: Changes<Benefit> & { readonly id: string },
): Promise<Benefit | Refusal<'missing_parameter' | 'in_use' | 'unknown_reference'>> {
  await tx.lock(sql`select id from benefits where id = ${args.id}`, 'benefits')
  const before = await benefitQueries(tx).find(args.id)
  const { name = before?.name, organization_id = before?.organization_id } = args
  if (name === undefined) return refuse('missing_parameter', 'name')
  if (organization_id === undefined) return refuse('missing_parameter', 'organization_id')
  if (before !== undefined && before.organization_id !== organization_id)
    return refuse('in_use', 'A benefit stays with its organization; create a new one for the other.')
  const unknown = await refuseUnknown(tx, { organization: [organization_id], game: [args.game_id] })
  if (unknown !== undefined) return unknown
  const benefit = changed(before ?? { id: args.id, name, organization_id, game_id: null }, args)
  if (before === undefined) await benefitColumns.insert(tx, [benefit])
  else await benefitColumns.update(tx, benefit)
  tx.record({ subject: `benefit/${args.id}`, before, after: benefit })
  return benefit
}

export async function deleteBenefit(tx: Transaction, args: { id: string }) {
  const granted = await tx.get(sql`select 1 as yes from entitlement_benefits where benefit_id = ${args.id}`)
  if (granted !== undefined) return refuse('in_use', 'The benefit has entitlements.')
  const promised = await tx.get(
    sql`select 1 as yes from campaign_drop_benefits where benefit_id = ${args.id} limit 1`,
  )
  if (promised !== undefined) return refuse('in_use', 'The benefit belongs to a drop of a campaign.')
  return deleteById(tx, 'benefit', args.id)
}
