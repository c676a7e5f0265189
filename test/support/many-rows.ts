import { Database as Sqlite } from 'bun:sqlite'
import { SQL } from 'bun'
import type { Engine } from '../../src/store/engine.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import type { StorePlace } from './server.ts'

/**
 * A store with so many rows of everything that an index matters, and as uneven as real ones: half of what there is belongs
 * to one organization, one game and one client, nearly all entitlements are fulfilled, and most of the audit log is one
 * operation. The text is the same for both engines.
 */
const ENTITLEMENTS = 20_000
const AUDIT_ROWS = 20_000
const USERS = 100_000
const SOME_THOUSAND = 6000

/** A number between 1 and `count`, and 1 in half of all cases. */
const skewed = (count: number) => `(case when n % 2 = 0 then 1 else 1 + n % ${count} end)`
const text = (number: string) => `cast(${number} as text)`
const time = (number: string) => `'2026-03-01T' || ${text(`100000 + ${number}`)}`

interface Rows {
  readonly table: string
  readonly count: number
  readonly columns: readonly string[]
}

const rows = (table: string, count: number, columns: readonly string[]): Rows => ({ table, count, columns })

/** Organizations are `o1` and so on, benefits `b1`, clients `c1`; all else are numbers. */
const TABLES: readonly Rows[] = [
  rows('users', USERS, [text('n'), `'user' || ${text('n')}`, "'User'", 'null', time('n')]),
  rows('organizations', SOME_THOUSAND, [`'o' || ${text('n')}`, `'Organization ' || ${text(skewed(1000))}`]),
  rows('members', SOME_THOUSAND, ["'o1'", text('n')]),
  rows('games', SOME_THOUSAND, [
    text('n'),
    `'Game ' || ${text(skewed(1000))}`,
    `case when n % 10 = 0 then null else 'o' || ${text(skewed(500))} end`,
  ]),
  rows('benefits', SOME_THOUSAND, [
    `'b' || ${text('n')}`,
    "'Benefit'",
    `'o' || ${text('1 + n % 500')}`,
    text(skewed(500)),
  ]),
  rows('clients', SOME_THOUSAND, [
    `'c' || ${text('n')}`,
    "'Client'",
    `'o' || ${text(skewed(500))}`,
    text(skewed(500)),
    "'confidential'",
    "'[]'",
    'null',
  ]),
  rows('channels', USERS, [text('n'), "'Title'", text(skewed(500)), "'en'", "'[]'", '0', '1']),
  rows('editors', SOME_THOUSAND, ["'1'", text('n + 1')]),
  rows('follows', SOME_THOUSAND, [text('1 + n % 60'), text('n + 100')]),
  rows('videos', SOME_THOUSAND, [text('n'), text(skewed(500)), time('n'), time('n + 1')]),
  rows('markers', SOME_THOUSAND, [`'m' || ${text('n')}`, text(skewed(500)), 'n', "''", time('n')]),
  rows('streams', SOME_THOUSAND, [text('n'), text('10000 + n'), 'null', time('n'), 'n']),
  rows('operator_tokens', SOME_THOUSAND, [
    `'night-shift-' || ${text('n')}`,
    `'hash' || ${text('n')}`,
    time('n'),
  ]),
  // The organization is that of the benefit; the game mostly belongs to it, and sometimes to nobody.
  rows('entitlements', ENTITLEMENTS, [
    `'e' || ${text('n')}`,
    `'o' || ${text(`1 + ${skewed(500)} % 500`)}`,
    `'b' || ${text(skewed(500))}`,
    text(skewed(SOME_THOUSAND)),
    text('case when n % 3 = 0 then 10 else 1 + n % 40 end'),
    time('n'),
    `case when n % 500 = 0 then 'CLAIMED' else 'FULFILLED' end`,
    time('n'),
  ]),
  rows('audit', AUDIT_ROWS, [
    "'chain'",
    'n',
    time('n'),
    `case when n % 100 = 0 then 'operator/night-shift' when n % 3 = 0 then 'operator' else 'client/c' || ${text(skewed(500))} end`,
    `case when n % 500 = 0 then 'DeleteUser' when n % 3 = 0 then 'GrantEntitlements' else 'UpdateDropsEntitlements' end`,
    `case when n % 3 = 0 then 'entitlements' else 'entitlement/e' || ${text('1 + n % 1000')} end`,
    `case when n % 3 = 0 then '' else ${time('1 + n % 1000')} end`,
    `case when n % 7 = 0 then 'null' else '"CLAIMED"' end`,
    `'"FULFILLED"'`,
    "''",
    "''",
  ]),
]

/** The statements that make them; with a divisor, so many times fewer. */
function manyRows(divisor = 1): readonly string[] {
  return TABLES.map(
    ({ table, count, columns }) =>
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${Math.ceil(count / divisor)})
       insert into ${table} select ${columns.join(', ')} from numbers`,
  )
}

/** A store that has them. */
export async function openFilled(place: StorePlace, divisor = 1): Promise<Engine> {
  if (place.databaseUrl === undefined) {
    const file = `${place.folder}/strand.db`
    const engine = await openSqliteEngine(file)
    const connection = new Sqlite(file)
    for (const statement of manyRows(divisor)) connection.run(statement)
    connection.close()
    return engine
  }
  const engine = await openPostgresEngine(place.databaseUrl, { connections: 4, pooled: false })
  const client = new SQL(place.databaseUrl, { max: 1 })
  // References are not looked at: fewer rows of one table may be referred to than another has.
  await client.unsafe("set session_replication_role = 'replica'")
  for (const statement of manyRows(divisor)) await client.unsafe(statement)
  await client.unsafe('vacuum analyze')
  await client.close()
  return engine
}
