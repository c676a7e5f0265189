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

const SHOWN = [
  'id',
  'login',
  'display_name',
  'description',
  'broadcaster_type',
  'email',
  'created_at',
] as const
/** What GetUsers shows, all of it stored as it is. */
export type ShownUser = Pick<User, (typeof SHOWN)[number]>
const selectShown = verbatim(`select ${SHOWN.join(', ')} from users`)

const readAll = (rows: readonly User[]): User[] => rows.map(row => userColumns.read(row))

export const userQueries = (db: Database) => {
  const one = async (where: Sql): Promise<User | undefined> => {
    const row = await db.get<User>(sql`${select} where ${where}`)
    return row && userColumns.read(row)
  }
  const shown = (column: Sql, values: readonly string[]): Promise<ShownUser[]> =>
    db.all<ShownUser>(sql`${selectShown} where ${isOneOf(column, values)} and suspended_at is null`)
  return {
    find: (id: string) => one(sql`id = ${id}`),
    withLogin: (login: string) => one(sql`login = ${login.toLowerCase()}`),
    /** Unless the user is suspended: for everyone but operators there is no such user then (D-270). */
    activeWithLogin: (login: string) => one(sql`login = ${login.toLowerCase()} and suspended_at is null`),
    /** Those that are not suspended. */
    shownWithIds: (ids: readonly string[]) => shown(sql`id`, ids),
    shownWithLogins: (logins: readonly string[]) => shown(sql`login`, logins),
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
