import type { Page, PageRequest } from '../../contract/page.ts'
import type { User } from '../../contract/resources/user.ts'
import { normalizeName } from '../../domain/search/normalize-name.ts'
import { Columns, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_NUMBER, idSortKey, orderBy } from '../keyset-order.ts'
import { isOneOf, type Sql, sql, verbatim } from '../sql/tag.ts'

export const userColumns = new Columns<User>(
  'users',
  {
    id: plain,
    login: plain,
    display_name: plain,
    description: plain,
    broadcaster_type: plain,
    email: plain,
    created_at: plain,
    suspended_at: plain,
    suspension_reason: plain,
  },
  { display_name_normalized: ({ display_name }) => normalizeName(display_name) },
)
const { select } = userColumns

export const userQueries = (db: Database) => ({
  find: (id: string) => db.get<User>(sql`${select} where id = ${id}`),
  withLogin: (login: string) => db.get<User>(sql`${select} where login = ${login.toLowerCase()}`),
  /** Unless the user is suspended: for everyone but operators there is no such user then (D-270). */
  activeWithLogin: (login: string) =>
    db.get<User>(sql`${select} where login = ${login.toLowerCase()} and suspended_at is null`),
  /** Those that are not suspended. */
  activeWithIds: (ids: readonly string[]) =>
    db.all<User>(sql`${select} where ${isOneOf(sql`id`, ids)} and suspended_at is null`),
  activeWithLogins: (logins: readonly string[]) =>
    db.all<User>(sql`${select} where ${isOneOf(sql`login`, logins)} and suspended_at is null`),
  page: (window: PageRequest): Promise<Page<User>> =>
    keysetPage<User>(db, { select, order: BY_NUMBER, window }),
})

const namedColumns = userColumns.from('u')

/** The users on one side of a relation, in the text order of their ids, which is the order of its index. */
export const usersIn = (db: Database, table: string, column: string, where: Sql, window: PageRequest) =>
  keysetPage<User>(db, {
    select: verbatim(`select ${column} as id from ${table}`),
    around: page => sql`select ${namedColumns} from (${page}) r join users u on u.id = r.id order by r.id`,
    where: [where],
    order: orderBy(column),
    window,
    sortKey: idSortKey,
  })
