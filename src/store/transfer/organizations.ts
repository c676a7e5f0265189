import { putOrganization } from '../commands/organizations.ts'
import { defineResource } from './resource.ts'

export const organization = defineResource('organization', {
  table: 'organizations',
  putEach: (tx, { line }) => putOrganization(tx, line),
})

export const member = defineResource('member', { table: 'members', key: ['organization_id', 'user_id'] })
