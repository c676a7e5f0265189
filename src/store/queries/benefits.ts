import type { Page, PageRequest } from '../../contract/page.ts'
import type { Benefit } from '../../contract/resources/benefit.ts'
import { Columns, fixed, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_ID } from '../keyset-order.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { type OrganizationFilter, ofOrganization } from './list-filters.ts'

export const benefitColumns = new Columns<Benefit>('benefits', {
  id: plain,
  name: plain,
  organization_id: fixed,
  game_id: plain,
})
const { select } = benefitColumns

export const benefitQueries = (db: Database) => ({
  find: (id: string) => db.get<Benefit>(sql`${select} where id = ${id.toLowerCase()}`),
  withIds: (ids: readonly string[]) => db.all<Benefit>(sql`${select} where ${isOneOf(sql`id`, ids)}`),
  page: (
    filter: OrganizationFilter & { readonly game_id?: string | undefined },
    window: PageRequest,
  ): Promise<Page<Benefit>> =>
    keysetPage<Benefit>(db, {
      select,
      where: [
        ...ofOrganization(filter),
        ...(filter.game_id === undefined ? [] : [sql`game_id = ${filter.game_id}`]),
      ],
      order: BY_ID,
      window,
    }),
})
