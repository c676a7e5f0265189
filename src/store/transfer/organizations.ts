import { putOrganization } from '../commands/organizations.ts'
import { asGiven, type CommandLines, oneByOne, type RowLines } from './line-type.ts'
import { storedRows } from './stored-rows.ts'
import { writeRows } from './write-rows.ts'

export const organization: CommandLines<'organization'> = {
  ...storedRows('organization', { table: 'organizations' }),
  writes: 'commands',
  asStored: asGiven,
  put: oneByOne((tx, { line }) => putOrganization(tx, line)),
}

const members = storedRows('member', { table: 'members', key: ['organization_id', 'user_id'] })

export const member: RowLines<'member'> = { ...members, writes: 'rows', put: writeRows(members) }
