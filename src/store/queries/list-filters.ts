/** Filters that lists of several resources have. Without a value there is no condition. */
import { type Sql, sql } from '../sql/tag.ts'

export interface OrganizationFilter {
  readonly organization_id?: string | undefined
}

export interface NameFilter {
  readonly name?: string | undefined
}

export const ofOrganization = ({ organization_id }: OrganizationFilter): Sql[] =>
  organization_id === undefined ? [] : [sql`organization_id = ${organization_id.toLowerCase()}`]

export const called = ({ name }: NameFilter): Sql[] => (name === undefined ? [] : [sql`name = ${name}`])
