import type { Page, PageRequest } from '../../contract/page.ts'
import type { User } from '../../contract/resources/user.ts'
import { normalizeName } from '../../domain/search/normalize-name.ts'
import { Columns, json, plain } from '../columns.ts'
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
    links: json(),
    broadcaster_type: plain,
    email: plain,
    created_at: plain,
    suspended_at: plain,
    suspension_reason: plain,
  },
  { display_name_normalized: ({ display_name }) => normalizeName(display_name) },
)
const { select } = userColumns

const readAll = (rows: readonly User[]): User[] => rows.map(row => userColumns.read(row))

export const userQueries = (db: Database) => {
  const one = async (where: Sql): Promise<User | undefined> => {
    const row = await db.get<User>(sql`${select} where ${where}`)
    return row && userColumns.read(row)
  }
  const some = async (where: Sql): Promise<User[]> =>
    readAll(await db.all<User>(sql`${select} where ${where}`))
  return {
    find: (id: string) => one(sql`id = ${id}`),
    withLogin: (login: string) => one(sql`login = ${login.toLowerCase()}`),
    /** Unless the user is suspended: for everyone but operators there is no such user then (D-270). */
    activeWithLogin: (login: string) => one(sql`login = ${login.toLowerCase()} and suspended_at is null`),
    /** Those that are not suspended. */
    activeWithIds: (ids: readonly string[]) => some(sql`${isOneOf(sql`id`, ids)} and suspended_at is null`),
    activeWithLogins: (logins: readonly string[]) =>
      some(sql`${isOneOf(sql`login`, logins)} and suspended_at is null`),
    page: async (window: PageRequest): Promise<Page<User>> => {
      const page = await keysetPage<User>(db, { select, order: BY_NUMBER, window })
      return { ...page, rows: readAll(page.rows) }
    },
  }
}

const namedColumns = userColumns.from('u')

/** The users on one side of a relation, in the text order of their ids, which is the order of its index. */
export const usersIn = async (
  db: Database,
  table: string,
  column: string,
  where: Sql,
  window: PageRequest,
): Promise<Page<User>> => {
  const page = await keysetPage<User>(db, {
    select: verbatim(`select ${column} as id from ${table}`),
    around: page => sql`select ${namedColumns} from (${page}) r join users u on u.id = r.id order by r.id`,
    where: [where],
    order: orderBy(column),
    window,
    sortKey: idSortKey,
  })
  return { ...page, rows: readAll(page.rows) }
}
