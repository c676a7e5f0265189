import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Organization } from '../../contract/resources/organization.ts'
import type { Transaction } from '../database.ts'
import { organizationColumns, organizationQueries } from '../queries/organizations.ts'
import { sql } from '../sql/tag.ts'
import { deleteById, refuseUnknown } from './references.ts'

export async function putOrganization(
  tx: Transaction,
  args: { id: string; name?: string | undefined },
): Promise<Organization | Refusal<'missing_parameter'>> {
  await tx.lock(sql`select id from organizations where id = ${args.id}`, 'organizations')
  const before = await organizationQueries(tx).find(args.id)
  const name = args.name ?? before?.name
  if (name === undefined) return refuse('missing_parameter', 'name')
  const organization: Organization = { id: args.id, name }
  if (before === undefined) await organizationColumns.insert(tx, [organization])
  else await organizationColumns.update(tx, organization)
  tx.record({ subject: `organization/${args.id}`, before, after: organization })
  return organization
}

/** Deletes an organization that owns nothing. */
export async function deleteOrganization(tx: Transaction, args: { id: string }) {
  const owned = await tx.get(
    sql`select 1 as yes where exists (select 1 from games where organization_id = ${args.id})
          or exists (select 1 from benefits where organization_id = ${args.id})
          or exists (select 1 from clients where organization_id = ${args.id})
          or exists (select 1 from campaigns where organization_id = ${args.id})
          or exists (select 1 from entitlement_organizations where organization_id = ${args.id})`,
  )
  if (owned === undefined) return deleteById(tx, 'organization', args.id)
  return refuse(
    'in_use',
    'The organization still owns games, benefits, clients, campaigns or entitlements; delete those first.',
  )
}

export async function putMember(tx: Transaction, args: { organization_id: string; user_id: string }) {
  const named = { organization: [args.organization_id], user: [args.user_id] }
  const unknown = await refuseUnknown(tx, named, 'not_found')
  if (unknown !== undefined) return unknown
  const added = await tx.run(
    sql`insert into members (organization_id, user_id) values (${args.organization_id}, ${args.user_id})
        on conflict (organization_id, user_id) do nothing`,
  )
  if (added > 0) tx.record({ subject: memberSubject(args), after: args })
  return undefined
}

export async function deleteMember(tx: Transaction, args: { organization_id: string; user_id: string }) {
  const gone = await tx.run(
    sql`delete from members where organization_id = ${args.organization_id} and user_id = ${args.user_id}`,
  )
  if (gone === 0) return refuse('not_found', 'member', args.user_id)
  tx.record({ subject: memberSubject(args), before: args })
  return undefined
}

const memberSubject = (member: { organization_id: string; user_id: string }): string =>
  `organization/${member.organization_id}/member/${member.user_id}`
