import type { Page, PageRequest } from '../../contract/page.ts'
import type { Organization } from '../../contract/resources/organization.ts'
import { Columns, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_ID } from '../keyset-order.ts'
import { sql } from '../sql/tag.ts'
import { called, type NameFilter } from './list-filters.ts'
import { usersIn } from './users.ts'

export const organizationColumns = new Columns<Organization>('organizations', { id: plain, name: plain })
const { select } = organizationColumns

export const organizationQueries = (db: Database) => ({
  find: (id: string) => db.get<Organization>(sql`${select} where id = ${id.toLowerCase()}`),
  page: (filter: NameFilter, window: PageRequest): Promise<Page<Organization>> =>
    keysetPage<Organization>(db, { select, where: called(filter), order: BY_ID, window }),
  members: (organization_id: string, window: PageRequest) =>
    usersIn(db, 'members', 'user_id', sql`organization_id = ${organization_id.toLowerCase()}`, window),
})
