import { Database as Sqlite } from 'bun:sqlite'
import { SQL } from 'bun'
import type { Engine } from '../../../src/store/engine.ts'
import { openPostgresEngine } from '../../../src/store/postgres/postgres.ts'
import { postgresDialect, sqliteDialect } from '../../../src/store/sql/dialects.ts'
import { type Dialect, render, verbatim } from '../../../src/store/sql/tag.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite.ts'
import type { StorePlace } from '../server.ts'

/**
 * A store with so many rows of everything that an index matters, and as uneven as real ones: half of the rows belong
 * to one organization, one game and one client, nearly all entitlements are fulfilled, and most of the audit log is one
 * operation. The text is the same for both engines.
 */
const ENTITLEMENTS = 20_000
const AUDIT_ROWS = 20_000
const EVENTS = 20_000
const USERS = 100_000
export const SOME_THOUSAND = 6000

/** A number between 1 and `count`, and 1 in half of all cases. */
const skewed = (count: number) => `(case when n % 2 = 0 then 1 else 1 + n % ${count} end)`
const text = (number: string) => `cast(${number} as text)`
const time = (number: string) => `'2026-03-01T' || ${text(`100000 + ${number}`)}`

/** A second of the day, as milliseconds and as text. */
const second = (number: string) => `1772323200000 + 1000 * (${number})`
const two = (number: string) => `substr(${text(`100 + ${number}`)}, 2)`
const secondAsText = (number: string) =>
  `'2026-03-01T' || ${two(`(${number}) / 3600`)} || ':' || ${two(`(${number}) / 60 % 60`)} || ':' || ${two(`(${number}) % 60`)} || '.000Z'`

/** The id of the n-th entitlement. */
export const entitlementId = (n: number) => `00000000-0000-4000-8000-${100_000_000_000 + n}`
const entitlementIdText = (number: string) =>
  `'00000000-0000-4000-8000-' || ${text(`100000000000 + ${number}`)}`
/** Stands for what the engine makes a UUID of. */
const UUID = /uuid\((.*)\)$/

interface Rows {
  readonly table: string
  readonly count: number
  /** What each column is made of; a column that is not here has its default. */
  readonly columns: Readonly<Record<string, string>>
}

const rows = (table: string, count: number, columns: Rows['columns']): Rows => ({ table, count, columns })

/** Organizations are `o1` and so on, benefits `b1`, clients `c1`; all else are numbers. */
const TABLES: readonly Rows[] = [
  rows('users', USERS, {
    id: text('n'),
    login: `'user' || ${text('n')}`,
    display_name: "'User'",
    display_name_normalized: "'user'",
    created_at: time('n'),
  }),
  rows('organizations', SOME_THOUSAND, {
    id: `'o' || ${text('n')}`,
    name: `'Organization ' || ${text(skewed(1000))}`,
  }),
  rows('members', SOME_THOUSAND, { organization_id: "'o1'", user_id: text('n') }),
  rows('games', SOME_THOUSAND, {
    id: text('n'),
    name: `'Game ' || ${text(skewed(1000))}`,
    name_normalized: `'game ' || ${text(skewed(1000))}`,
    organization_id: `case when n % 10 = 0 then null else 'o' || ${text(skewed(500))} end`,
  }),
  rows('benefits', SOME_THOUSAND, {
    id: `'b' || ${text('n')}`,
    name: "'Benefit'",
    organization_id: `'o' || ${text('1 + n % 500')}`,
    game_id: text(skewed(500)),
  }),
  rows('clients', SOME_THOUSAND, {
    id: `'c' || ${text('n')}`,
    name: "'Client'",
    organization_id: `'o' || ${text(skewed(500))}`,
    owner_user_id: text(skewed(500)),
    kind: "'confidential'",
    redirect_uris: "'[]'",
  }),
  rows('channels', USERS, {
    user_id: text('n'),
    title: "'Title'",
    game_id: text(skewed(500)),
    language: "'en'",
    tags: "'[]'",
    is_mature: '0',
    vod_enabled: '1',
  }),
  rows('editors', SOME_THOUSAND, { user_id: "'1'", editor_id: text('n + 1'), created_at: time('n') }),
  // One user who follows many channels and has many more followers, some dozens of them in the same second.
  rows('follows', SOME_THOUSAND, {
    user_id: `case when n % 4 = 0 then '1' else ${text('n + 1')} end`,
    broadcaster_id: `case when n % 4 = 0 then ${text('n + 1')} else '1' end`,
    followed_at: time('n / 50'),
  }),
  rows('extra_stream_keys', SOME_THOUSAND, {
    user_id: `case when n % 4 = 0 then ${text('n + 1')} else '1' end`,
    name: `'key-' || ${text('n')}`,
    key_id: "'k'",
    sealed: "''",
    lookup_hash: `'hash' || ${text('n')}`,
    created_at: time('n'),
  }),
  rows('videos', SOME_THOUSAND, {
    id: text('n'),
    user_id: text(skewed(500)),
    created_at: time('n'),
    ended_at: time('n + 1'),
    game_id: text(skewed(500)),
    view_count: 'n % 100',
  }),
  rows('video_markers', SOME_THOUSAND, {
    id: `'m' || ${text('n')}`,
    video_id: text(skewed(500)),
    position_seconds: 'n',
    description: "''",
    created_at: time('n'),
  }),
  rows('streams', SOME_THOUSAND, {
    user_id: text('n'),
    id: text('10000 + n'),
    started_at: time('n'),
    viewer_count: 'n',
  }),
  rows('operator_tokens', SOME_THOUSAND, {
    name: `'night-shift-' || ${text('n')}`,
    hash: `'hash' || ${text('n')}`,
    created_at: time('n'),
  }),
  // The organization is that of the benefit; the game mostly belongs to it, and sometimes to none.
  rows('entitlement_organizations', ENTITLEMENTS, { number: 'n', organization_id: `'o' || ${text('n')}` }),
  rows('entitlement_benefits', ENTITLEMENTS, { number: 'n', benefit_id: `'b' || ${text('n')}` }),
  rows('organization_entitlements', ENTITLEMENTS, {
    id: `uuid(${entitlementIdText('n')})`,
    organization: `1 + ${skewed(500)} % 500`,
    benefit: skewed(500),
    user_id: text(skewed(SOME_THOUSAND)),
    game_id: text('case when n % 3 = 0 then 10 else 1 + n % 40 end'),
    timestamp: second('n'),
    fulfilled: `case when n % 500 = 0 then 0 else 1 end`,
    last_updated: second('n'),
  }),
  rows('campaigns', SOME_THOUSAND, {
    id: `'k' || ${text('n')}`,
    number: 'n',
    name: "'Campaign'",
    organization_id: `'o' || ${text(skewed(500))}`,
    game_id: text(skewed(500)),
    state: `case when n % 100 = 0 then 'draft' else 'published' end`,
    starts_at: time('n'),
    ends_at: "'2026-03-03T00:00:00.000Z'",
    claim_ends_at: "'2026-03-04T00:00:00.000Z'",
    pauses: "'[]'",
    claim_seconds: '86400',
    channels: "'all'",
    account_link: "'none'",
    auto_claim: '0',
  }),
  rows('campaign_drops', SOME_THOUSAND, {
    id: `'p' || ${text('n')}`,
    campaign_id: `'k' || ${text('n')}`,
    place: '0',
    name: "'Drop'",
    required_minutes: '30',
  }),
  rows('campaign_drop_benefits', SOME_THOUSAND, {
    drop_id: `'p' || ${text('n')}`,
    benefit_id: `'b' || ${text('n')}`,
    place: '0',
  }),
  // Of one campaign, which is read with all of them.
  rows('campaign_channels', 1000, { campaign_id: "'k1'", user_id: text('n') }),
  rows('watched_minutes', SOME_THOUSAND, { user_id: text('n'), slot: 'n', recent: '1' }),
  rows('drop_progress', SOME_THOUSAND, { campaign: '1', user_id: text('n'), minutes: 'n % 100' }),
  rows('drop_claims', SOME_THOUSAND, {
    user_id: text('n'),
    drop_id: "'p1'",
    benefit_id: "'b1'",
    entitlement_id: `uuid(${entitlementIdText('n')})`,
    claimed_at: time('n'),
    source: "'viewer'",
  }),
  rows('event_subscriptions', SOME_THOUSAND, {
    id: `'s' || ${text('n')}`,
    // Costs limit how many subscriptions a client has.
    client_id: `'c' || ${text('case when n % 4 = 0 then 1 else 1 + n % 500 end')}`,
    owner: `case when n % 8 = 0 then '1' else '' end`,
    type: `case when n % 100 = 0 then 'user.update' else 'stream.online' end`,
    version: "'1'",
    condition: `'{"broadcaster_user_id":"' || ${text('n')} || '"}'`,
    topic: `'stream.online/1/' || ${text('n')}`,
    status: `case when n % 100 = 0 then 'user_removed' else 'enabled' end`,
    cost: '1',
    method: "'webhook'",
    target: "'webhook:example.com'",
    identity: text('n'),
    created_at: time('n / 5'),
  }),
  rows('events', EVENTS, {
    id: `'v' || ${text('n')}`,
    type: `case when n % 500 = 0 then 'user.update' else 'stream.online' end`,
    version: "'1'",
    subject: text(skewed(500)),
    occurred_at: time('n'),
    body: "'{}'",
  }),
  rows('event_deliveries', EVENTS, {
    id: `'d' || ${text('n')}`,
    message: `'d' || ${text('n')}`,
    kind: "'notification'",
    subscription_id: `'s' || ${text(skewed(500))}`,
    event_seq: `(select seq from events where id = 'v' || ${text(skewed(500))})`,
    target: "'webhook:example.com'",
    status: `case when n % 500 = 0 then 'failed' else 'delivered' end`,
    attempts: '1',
    created_at: time('n'),
  }),
  rows('audit', AUDIT_ROWS, {
    chain: "'chain'",
    seq: 'n',
    at: secondAsText('n'),
    actor: `case when n % 100 = 0 then 'operator/night-shift' when n % 3 = 0 then 'operator' else 'client/c' || ${text(skewed(500))} end`,
    operation: `case when n % 500 = 0 then 'DeleteUser' when n % 3 = 0 then 'GrantEntitlements' else 'UpdateDropsEntitlements' end`,
    subject: `case when n % 3 = 0 then 'entitlements' else 'entitlement/' || ${entitlementIdText('1 + n % 1000')} end`,
    place: `case when n % 3 = 0 then '' else ${secondAsText('1 + n % 1000')} end`,
    before: `case when n % 7 = 0 then 'null' else '"CLAIMED"' end`,
    after: `'"FULFILLED"'`,
    previous: "''",
    hash: "''",
  }),
  rows('audit_heads', 1, { chain: "'chain'", seq: String(AUDIT_ROWS), hash: "''", number: '1' }),
  // Every third row changed entitlements together; nearly all of them the second one too.
  rows('audit_entitlements', AUDIT_ROWS / 4, {
    timestamp: second('2'),
    id: `uuid(${entitlementIdText('2')})`,
    at: second('n * 3'),
    seq: 'n * 3',
    chain: '1',
  }),
]

/** The statements that make them; with a divisor, so many times fewer. */
function manyRows(dialect: Dialect, divisor = 1): readonly string[] {
  const written = (expression: string) => {
    const spelled = UUID.exec(expression)?.[1]
    return spelled === undefined ? expression : render(dialect.asUuid(verbatim(spelled)), dialect).text
  }
  return TABLES.map(
    ({ table, count, columns }) =>
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${Math.ceil(count / divisor)})
       insert into ${table} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).map(written).join(', ')} from numbers`,
  )
}

const WITHOUT_AUTOVACUUM = `do $$ declare name text; begin
  for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %I set (autovacuum_enabled = false)', name);
  end loop; end $$`

/** A store that has them; PostgreSQL without statistics about them, if it is not to analyze them. */
export async function openFilled(place: StorePlace, divisor = 1, { analyze = true } = {}): Promise<Engine> {
  const engine = await openEngine(place)
  if (place.databaseUrl === undefined) {
    const connection = new Sqlite(`${place.folder}/strand.db`)
    for (const statement of manyRows(sqliteDialect, divisor)) connection.run(statement)
    connection.close()
    return engine
  }
  const client = new SQL(place.databaseUrl, { max: 1 })
  if (!analyze) await client.unsafe(WITHOUT_AUTOVACUUM)
  // References are not looked at: fewer rows of one table may be referred to than another has.
  await client.unsafe("set session_replication_role = 'replica'")
  for (const statement of manyRows(postgresDialect, divisor)) await client.unsafe(statement)
  if (analyze) await client.unsafe('vacuum analyze')
  await client.close()
  return engine
}

export const openEngine = ({ folder, databaseUrl }: StorePlace): Promise<Engine> =>
  databaseUrl === undefined
    ? openSqliteEngine(`${folder}/strand.db`)
    : openPostgresEngine(databaseUrl, { connections: 4, pooled: false })

/** Suspends users, and lets PostgreSQL clean up, as it does some time later. No engine is open. */
export async function suspendUsers({ folder, databaseUrl }: StorePlace, where: string): Promise<void> {
  const statement = `update users set suspended_at = '2026-03-02T00:00:00Z' where ${where}`
  if (databaseUrl === undefined) {
    using connection = new Sqlite(`${folder}/strand.db`)
    connection.run(statement)
    return
  }
  const client = new SQL(databaseUrl, { max: 1 })
  await client.unsafe(statement)
  await client.unsafe('vacuum analyze users')
  await client.close()
}
