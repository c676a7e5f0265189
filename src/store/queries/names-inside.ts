/**
 * Finds logins that have a text anywhere in the login or the display name, for the search of the site (D-162). No index
 * finds these on both engines, so names are read along their indexes, which contain all that is compared: 10,000 take about
 * a millisecond, then other work gets its turn. What strangers can make a store do is bounded twice: a search reads at most
 * `MAX_READ` logins and as many names, and when there are many searches, some find nothing here.
 */
import type { SiteSearch } from '../../domain/search/site-search.ts'
import { TokenBuckets, takePoint } from '../../kit/queues/token-buckets.ts'
import type { Database } from '../database.ts'
import { all, limitedTo, type Sql, sql, verbatim } from '../sql/tag.ts'
import { isActive, isOtherName } from './searched-names.ts'

const MAX_READ = 100_000
const STEP = 10_000
/** Ten searches per second, and bursts of twenty. */
const SEARCHES = { capacity: 20, fullAfterSeconds: 2 }

export function namesInside(db: Database) {
  const buckets = new TokenBuckets()
  return async (search: SiteSearch, most: number): Promise<string[]> => {
    if (!takePoint(buckets.get('searches', SEARCHES))) return []
    const byLogin = await scan(db, search, { column: 'login', where: [isActive] }, most)
    const byName = await scan(db, search, { column: 'display_name_normalized', where: [isOtherName] }, most)
    return [...new Set([...byLogin, ...byName])]
  }
}

async function scan(
  db: Database,
  { names }: SiteSearch,
  { column, where }: { readonly column: string; readonly where: readonly Sql[] },
  most: number,
): Promise<string[]> {
  const text = verbatim(column)
  const [first = sql``, ...others] = names.spellings.map(
    spelling => sql`${text} like ${`%${escaped(spelling)}%`} escape '!'`,
  )
  const contains = others.reduce((either, other) => sql`${either} or ${other}`, first)
  const found: string[] = []
  let from: Sql[] = []
  for (let read = 0; read < MAX_READ && found.length < most; read += STEP) {
    if (read > 0) await Bun.sleep(0)
    const last = await db.get<{ text: string }>(
      sql`select ${text} as text from users where ${all([...where, ...from])}
          order by ${text} limit 1 offset cast(${STEP - 1} as integer)`,
    )
    const upTo = last === undefined ? [] : [sql`${text} <= ${last.text}`]
    const rows = await db.all<{ login: string }>(
      sql`select login from users where ${all([...where, ...from, ...upTo, sql`(${contains})`])}
          order by ${text}${limitedTo(most - found.length)}`,
    )
    for (const { login } of rows) found.push(login)
    if (last === undefined) break
    from = [sql`${text} > ${last.text}`]
  }
  return found
}

/** No character of the text is a wildcard. */
const escaped = (text: string): string => text.replaceAll(/[!%_]/g, character => `!${character}`)
