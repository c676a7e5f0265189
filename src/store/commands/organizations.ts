import type { Organization } from '../../contract/resources/world.ts'
import type { Transaction } from '../database.ts'
import { organizationQueries } from '../queries/world.ts'
import { sql } from '../sql/tag.ts'
import { deleteById, type MissingReference, missingReference } from './references.ts'

export async function putOrganization(
  tx: Transaction,
  args: { id: string; name?: string | undefined },
): Promise<{ outcome: 'done'; organization: Organization } | { outcome: 'name_missing' }> {
  await tx.lock(sql`select id from organizations where id = ${args.id}`, 'organizations')
  const before = await organizationQueries(tx).find(args.id)
  const name = args.name ?? before?.name
  if (name === undefined) return { outcome: 'name_missing' }
  await tx.run(
    sql`insert into organizations (id, name) values (${args.id}, ${name})
        on conflict (id) do update set name = excluded.name`,
  )
  const organization: Organization = { id: args.id, name }
  tx.record({ subject: `organization/${args.id}`, before, after: organization })
  return { outcome: 'done', organization }
}

/** Deletes an organization that owns nothing. */
export async function deleteOrganization(
  tx: Transaction,
  args: { id: string },
): Promise<'deleted' | 'absent' | 'in_use'> {
  const owned = await tx.get(
    sql`select 1 as yes where exists (select 1 from games where organization_id = ${args.id})
          or exists (select 1 from benefits where organization_id = ${args.id})
          or exists (select 1 from clients where organization_id = ${args.id})
          or exists (select 1 from entitlements where organization_id = ${args.id})`,
  )
  if (owned !== undefined) return 'in_use'
  const before = await organizationQueries(tx).find(args.id)
  if (!(await deleteById(tx, 'organization', args.id))) return 'absent'
  tx.record({ subject: `organization/${args.id}`, before })
  return 'deleted'
}

export async function putMember(
  tx: Transaction,
  args: { organization_id: string; user_id: string },
): Promise<{ outcome: 'done' } | MissingReference> {
  const missing =
    (await missingReference(tx, 'organization', [args.organization_id])) ??
    (await missingReference(tx, 'user', [args.user_id]))
  if (missing !== undefined) return missing
  const added = await tx.run(
    sql`insert into members (organization_id, user_id) values (${args.organization_id}, ${args.user_id})
        on conflict (organization_id, user_id) do nothing`,
  )
  if (added > 0) tx.record({ subject: memberSubject(args), after: args })
  return { outcome: 'done' }
}

export async function deleteMember(
  tx: Transaction,
  args: { organization_id: string; user_id: string },
): Promise<boolean> {
  const gone = await tx.run(
    sql`delete from members where organization_id = ${args.organization_id} and user_id = ${args.user_id}`,
  )
  if (gone > 0) tx.record({ subject: memberSubject(args), before: args })
  return gone > 0
}

const memberSubject = (member: { organization_id: string; user_id: string }): string =>
  `organization/${member.organization_id}/member/${member.user_id}`
