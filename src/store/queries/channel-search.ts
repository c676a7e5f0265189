/**
 * Finds channels by the beginning of their login or display name, in the order of logins (D-86, D-87).
 *
 * Logins that begin with a prefix are a range of an index in the order of the answer. Display names are an index too, but in
 * another order, so all names of a range would have to be read and sorted to find the first logins. That is done where they
 * are few: `MAX_SORTED` take about a millisecond. Where they are many, channels are read in the order of their logins until
 * the page is full, which is soon because many fit, and only those whose name has the same first character. These are read
 * in steps, and other work can run between them. Among 1,000,000 users who all have other display names, a page takes 1 to
 * 3 ms on SQLite, and on a busy machine with PostgreSQL 5 to 20 ms, whether the query is one letter or more. The worst case
 * is many names with the same beginning that all belong to the last logins: then `MAX_NAMES` names with that first character
 * are read, and the page ends there, full or not.
 *
 * The indexes omit suspended users (D-270), so that these cost a search nothing, and those on display names also names that
 * differ from the login by spaces only: the spellings of the query find those by login.
 */
import type { Page, PageRequest } from '../../contract/page.ts'
import { type ChannelSearch, endOfPrefix, foundKey, isExact } from '../../domain/search/channel-search.ts'
import type { SiteSearch } from '../../domain/search/site-search.ts'
import type { Database } from '../database.ts'
import { filteredPage } from '../keyset.ts'
import { orderBy } from '../keyset-order.ts'
import { all, isOneOf, limitedTo, merged, type Sql, sql, verbatim } from '../sql/tag.ts'
import { namesInside } from './names-inside.ts'
import { isActive, isOtherName } from './searched-names.ts'

/** A channel as searches return it, apart from what is known only of live ones. */
export interface MatchingChannel {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly title: string
  readonly game_id: string
  readonly game_name: string
  readonly language: string
  readonly tags: readonly string[]
}

type MatchingRow = Omit<MatchingChannel, 'tags'> & { readonly tags: string }

/** Maximum display names that are read to sort them. */
const MAX_SORTED = 2000
/** Maximum display names that are read for one page. */
const MAX_NAMES = 50_000

const byLogin = orderBy('login')

export const channelSearchQueries = (db: Database) => {
  const findInside = namesInside(db)
  return {
    /** Forward only. */
    page: (search: ChannelSearch, window: PageRequest) => pageOfFound(db, search, window),
    /** Some channels whose names have the text anywhere, by login. */
    inside: async (search: SiteSearch, most: number) =>
      findMatchingChannels(db, await findInside(search, most)),
  }
}

async function pageOfFound(
  db: Database,
  search: ChannelSearch,
  { first, direction, from }: PageRequest,
): Promise<Page<MatchingChannel>> {
  const [rank = 0, login = ''] = from ?? []
  const exact = rank === 0 ? await exactLogins(db, search, String(login)) : []
  const { logins: others, end } = await loginsAfter(db, search, rank === 0 ? '' : String(login), first + 1)
  const found = [...exact, ...others]
  const logins = found.slice(0, first)
  const more = found.length > first
  if (!more && end !== undefined) {
    const last = [1, end]
    return { rows: await findMatchingChannels(db, logins), more: true, span: { first: from ?? last, last } }
  }
  const rows = await findMatchingChannels(db, logins)
  const last = logins.at(-1)
  // An empty page ends a walk: if all of them were suspended or deleted just now, the next page is returned.
  if (rows.length === 0 && more && last !== undefined)
    return pageOfFound(db, search, { first, direction, from: foundKey(search, last) })
  return { rows, more }
}

async function exactLogins(db: Database, { spellings }: ChannelSearch, after: string): Promise<string[]> {
  const rows = await db.all<{ login: string }>(
    sql`select login from users where ${isOneOf(sql`login`, spellings)} and ${isActive}`,
  )
  return rows
    .map(row => row.login)
    .filter(login => login > after)
    .sort()
}

/** Logins in order. With `end`, those after that one are not known yet. */
interface FoundLogins {
  readonly logins: string[]
  readonly end?: string
}

/** The first logins after one, without those that are the query itself. */
async function loginsAfter(
  db: Database,
  search: ChannelSearch,
  after: string,
  count: number,
): Promise<FoundLogins> {
  const most = count + search.spellings.length
  const found = new Set(await byLoginPrefix(db, search, after, most))
  const ends: string[] = []
  for (const prefix of search.prefixes) {
    const { logins, end } = await byDisplayName(db, prefix, after, most)
    for (const login of logins) found.add(login)
    if (end !== undefined) ends.push(end)
  }
  const [end] = ends.sort()
  const logins = [...found]
    .filter(login => !isExact(search, login) && (end === undefined || login <= end))
    .sort()
    .slice(0, count)
  return end === undefined ? { logins } : { logins, end }
}

async function byLoginPrefix(
  db: Database,
  { prefixes }: ChannelSearch,
  after: string,
  most: number,
): Promise<string[]> {
  const ranges = prefixes
    .map(prefix =>
      after < prefix ? prefixRange('login', prefix) : [sql`login > ${after}`, ...below('login', prefix)],
    )
    .map(range => sql`select login from users where ${all([...range, isActive])}`)
  const rows = await db.all<{ login: string }>(sql`${merged(ranges, sql` order by login${limitedTo(most)}`)}`)
  return rows.map(row => row.login)
}

async function byDisplayName(
  db: Database,
  prefix: string,
  after: string,
  most: number,
): Promise<FoundLogins> {
  const names = await db.all<{ login: string }>(
    sql`select login from users where ${all([...prefixRange('display_name_normalized', prefix), isOtherName])}
        order by display_name_normalized, login${limitedTo(MAX_SORTED + 1)}`,
  )
  if (names.length <= MAX_SORTED) {
    const later = names.map(row => row.login).filter(login => login > after)
    return { logins: later.sort().slice(0, most) }
  }
  const [initial = ''] = prefix
  const { rows, span } = await filteredPage<{ login: string; display_name_normalized: string }>(db, {
    select: sql`select login, display_name_normalized from users`,
    where: [sql`substr(display_name_normalized, 1, 1) = ${initial}`, isOtherName],
    order: byLogin,
    window: { first: most, direction: 'forward', from: [after] },
    filter: row => row.display_name_normalized.startsWith(prefix),
    most: MAX_NAMES,
  })
  const logins = rows.map(row => row.login)
  return span === undefined ? { logins } : { logins, end: String(span.last[0]) }
}

/** The channels with these logins, in the same order, without those of users who were suspended just now. */
async function findMatchingChannels(db: Database, logins: readonly string[]): Promise<MatchingChannel[]> {
  if (logins.length === 0) return []
  const rows = await db.all<MatchingRow>(
    sql`select u.id, u.login, u.display_name, c.title, coalesce(c.game_id, '') as game_id,
          coalesce(g.name, '') as game_name, c.language, c.tags
        from users u join channels c on c.user_id = u.id left join games g on g.id = c.game_id
        where ${isOneOf(sql`u.login`, logins)} and u.suspended_at is null`,
  )
  const byLogin = new Map(rows.map(row => [row.login, { ...row, tags: JSON.parse(row.tags) as string[] }]))
  return logins.flatMap(login => byLogin.get(login) ?? [])
}

/** Prefixes are data: no character of them is a wildcard. */
function prefixRange(column: string, prefix: string): Sql[] {
  return [sql`${verbatim(column)} >= ${prefix}`, ...below(column, prefix)]
}

function below(column: string, prefix: string): Sql[] {
  const end = endOfPrefix(prefix)
  return end === undefined ? [] : [sql`${verbatim(column)} < ${end}`]
}
