/**
 * The world that the scenarios run in, written straight into the tables. Commands would make the same rows, an hour later:
 * a stream is five rows in five tables, and there are 100,000 of them beside 1,000,000 entitlements. The engine makes the
 * schema; then indexes and triggers are set aside, the tables filled without waiting for the disk, and both put back.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { type Issue, issueAppToken, issueUserToken } from '../../src/auth/tokens.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { ADJECTIVES, ANIMALS, LANGUAGES, MARKERS, TAGS, TITLES } from '../../src/demo/names.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import type { SeededRandom } from '../../src/kit/random.ts'
import { uuidText } from '../../src/kit/uuid.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'

const TOKEN_SECONDS = 24 * 3600
const CLIENT_ID = 'benchbenchbenchbenchbenchbench'
const FIRST_ID = 140_000_000
const FIRST_GAME = 30_000
const GAMES = 500
const OWN_GAMES = 5
const MAX_CALLERS = 2000
const SAMPLES = 2000
const MAX_BATCHES = 100
/** Batches do not overlap. */
const ROWS_PER_BATCH = 150
const BATCH_SIZE = 100
const ROWS_PER_USER = 20
const MARKED = 64
const MARKERS_PER_VIDEO = 200
/** They are not live, and follow each other and some who are. */
const FOLLOWERS = 500
const FOLLOWED = 500
export const FOLLOWED_LIVE = 40

export type WorldSize = Readonly<{ streams: number; entitlements: number }>

/** Below these the roles do not fit. */
export const SMALLEST: WorldSize = { streams: 1000, entitlements: 10_000 }

type TokenHolder = Readonly<{ id: string; token: string }>

/** What a server of this world must be given, master keys in the form of STRAND_MASTER_KEYS. */
export type Secrets = Readonly<{ masterKeys: string; operatorToken: string }>

export interface BenchWorld {
  readonly folder: string
  readonly storeFile: string
  readonly secrets: Secrets
  readonly size: WorldSize
  readonly liveIds: readonly string[]
  /** Broadcasters of them with tokens. */
  readonly callers: readonly TokenHolder[]
  /** Those of them whose videos have 200 markers each. */
  readonly marked: readonly TokenHolder[]
  /** They follow 500 channels of which 40 are live. */
  readonly followers: readonly TokenHolder[]
  readonly appToken: string
  /** The organization of the app, and its benefits. */
  readonly organization: string
  readonly benefits: readonly { readonly benefit_id: string; readonly game_id: string }[]
  /** Entitlements of the app's organization, drawn from all of them. */
  readonly entitlements: readonly Holding[]
  /** Ids as a page of 100 lists them: neighbours in time. */
  readonly batches: readonly (readonly string[])[]
}

type Holding = Readonly<{ id: string; user_id: string; game_id: string }>
type StoredHolding = Omit<Holding, 'id'> & Readonly<{ id: Uint8Array; n: number }>

export async function makeWorld(folder: string, size: WorldSize): Promise<BenchWorld> {
  const storeFile = join(folder, 'strand.db')
  await (await openSqliteEngine(storeFile)).close()
  const master = { id: 'bench', bytes: new Uint8Array(randomBytes(32)) }
  using db = new Sqlite(storeFile)
  db.run('pragma synchronous = off; pragma foreign_keys = off; pragma cache_size = -262144')
  const setAside = [...takeAway(db, 'index'), ...takeAway(db, 'trigger')]
  db.run('begin')
  const platform = fillPlatform(db)
  fillChannels(db, size.streams)
  fillFollows(db, size.streams)
  fillEntitlements(db, size)
  const ids = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => String(FIRST_ID + 7 * (from + n)))
  const liveIds = ids(0, size.streams)
  fillStreamKeys(db, liveIds, new StreamKeys(new KeyRing([master])))
  const lifetimes = { user_seconds: TOKEN_SECONDS, refresh_seconds: TOKEN_SECONDS }
  const withToken = (id: string): TokenHolder => {
    const owner = { client_id: CLIENT_ID, user_id: id, scopes: SCOPES }
    return { id, token: insertTokens(db, issueUserToken(owner, Date.now(), lifetimes)) }
  }
  // Others watch the first channel.
  const callers = liveIds.slice(1, Math.min(1 + MAX_CALLERS, size.streams / 2)).map(withToken)
  const followers = ids(size.streams, FOLLOWERS).map(withToken)
  db.run('commit')
  for (const statement of setAside) db.run(statement)
  db.run('pragma wal_checkpoint(truncate)')
  return {
    folder,
    storeFile,
    secrets: {
      masterKeys: `${master.id}:${Buffer.from(master.bytes).toString('base64')}`,
      operatorToken: randomBytes(20).toString('hex'),
    },
    size,
    ...platform,
    liveIds,
    callers,
    marked: callers.slice(0, MARKED),
    followers,
    ...sampleEntitlements(db, size),
  }
}

/** Takes away what is not part of a table, and gives the statements that bring it back. */
function takeAway(db: Sqlite, type: 'index' | 'trigger'): string[] {
  const found = db
    .query('select name, sql from sqlite_master where type = ? and sql is not null')
    .all(type) as { name: string; sql: string }[]
  for (const { name } of found) db.run(`drop ${type} ${name}`)
  return found.map(each => each.sql)
}

/** The parts of which the statements are made. Users and games have the ids of their places. */
const numbers = (count: number) =>
  `(with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${count - 1}) select n from numbers)`
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const ID = (n: string) => `cast(${FIRST_ID} + 7 * (${n}) as text)`
const GAME = (n: string) => `cast(${FIRST_GAME} + 37 * (${n}) as text)`
/** In [0, 1). */
const RANDOM = '(abs(random()) / 9223372036854775808.0)'
const between = (low: number, high: number) => `(${low} + abs(random()) % ${high - low + 1})`
const pick = (from: readonly string[]) =>
  `json_extract(${quoted(JSON.stringify(from))}, '$[' || ${between(0, from.length - 1)} || ']')`
const secondsAgo = (seconds: string) =>
  `strftime('%Y-%m-%dT%H:%M:%SZ', unixepoch() - (${seconds}), 'unixepoch')`
const LONG_AGO = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-400 days')"

/** Two organizations: one with five games and a client, another one with one game. */
function fillPlatform(db: Sqlite): Pick<BenchWorld, 'appToken' | 'organization' | 'benefits'> {
  const [organization, other] = [crypto.randomUUID(), crypto.randomUUID()]
  for (const [index, id] of [organization, other].entries()) {
    db.run('insert into organizations (id, name) values (?, ?)', [id, `Reef ${index}`])
    db.run('insert into entitlement_organizations (number, organization_id) values (?, ?)', [1 + index, id])
  }
  const benefits: { benefit_id: string; game_id: string }[] = []
  for (let index = 0; index < GAMES; index++) {
    const game_id = String(FIRST_GAME + 37 * index)
    const owner = index < OWN_GAMES ? organization : index === OWN_GAMES ? other : null
    const name = `Tidefall ${index + 1}`
    const game = [game_id, name, name.toLowerCase(), owner]
    db.run('insert into games (id, name, name_normalized, organization_id) values (?, ?, ?, ?)', game)
    if (owner === null) continue
    const benefit_id = crypto.randomUUID()
    const benefit = [benefit_id, 'Coral lantern', owner, game_id]
    db.run('insert into benefits (id, name, organization_id, game_id) values (?, ?, ?, ?)', benefit)
    db.run('insert into entitlement_benefits (number, benefit_id) values (?, ?)', [1 + index, benefit_id])
    if (owner === organization) benefits.push({ benefit_id, game_id })
  }
  db.run(
    "insert into clients (id, name, organization_id, kind, redirect_uris) values (?, 'Bench', ?, 'confidential', '[]')",
    [CLIENT_ID, organization],
  )
  const appToken = insertTokens(db, issueAppToken(CLIENT_ID, Date.now(), TOKEN_SECONDS))
  return { appToken, organization, benefits }
}

function insertTokens(db: Sqlite, { rows, answer }: Issue): string {
  const columns = 'hash, kind, client_id, user_id, scopes, family, expires_at'
  for (const { hash, kind, client_id, user_id, scopes, family, expires_at } of rows) {
    const values = [hash, kind, client_id, user_id, JSON.stringify(scopes), family, expires_at]
    db.query(`insert into tokens (${columns}) values (?, ?, ?, ?, ?, ?, ?)`).run(...values)
  }
  return answer.access_token
}

function fillStreamKeys(db: Sqlite, ids: readonly string[], keys: StreamKeys): void {
  const insert = db.query(
    'insert into stream_keys (user_id, version, key_id, sealed, lookup_hash) values (?, 1, ?, ?, ?)',
  )
  for (const id of ids) {
    const { key_id, sealed, lookup_hash } = keys.mint(id, 1).stored
    insert.run(id, key_id, sealed, lookup_hash)
  }
}

/** The first games are played by most, as everywhere: the n-th by about 1/n of the first's. */
export const drawGame = (random: SeededRandom) =>
  String(FIRST_GAME + 37 * (Math.floor(GAMES ** random.next()) - 1))

/** Few channels have most of the viewers; the long tail has next to none, and many ties. */
function fillChannels(db: Sqlite, live: number): void {
  const login = `${pick(ADJECTIVES)} || '_' || ${pick(ANIMALS)} || '_' || n`
  const all = numbers(live + FOLLOWERS)
  db.run(`with named as materialized (select ${ID('n')} as id, ${login} as login from ${all})
    insert into users (id, login, display_name, display_name_normalized, created_at)
      select id, login, login, login, ${LONG_AGO} from named`)
  db.run(`insert into channels (user_id, title, game_id, language, tags, is_mature, vod_enabled)
    select ${ID('n')}, ${pick(TITLES)} || ' | day ' || ${between(1, 900)},
      ${GAME(`cast(pow(${GAMES}, ${RANDOM}) as integer) - 1`)}, ${pick(LANGUAGES)},
      json_array(${pick(TAGS)}, ${pick(TAGS)}), 0, 1 from ${all}`)
  db.run(`insert into videos (id, user_id, created_at)
    select '9' || ${ID('n')}, ${ID('n')}, ${secondsAgo(between(60, 36_000))} from ${numbers(live)}`)
  db.run(`insert into streams (user_id, id, video_id, started_at, viewer_count)
    select user_id, '40' || user_id, id, created_at, cast(2 / (${RANDOM} + 0.00001) as integer) from videos`)
  // Of the marked: the first channel is not a caller.
  db.run(`insert into video_markers (id, video_id, position_seconds, description, created_at)
    select lower(hex(randomblob(16))), '9' || ${ID(`1 + n / ${MARKERS_PER_VIDEO}`)},
      15 * (n % ${MARKERS_PER_VIDEO}), ${pick(MARKERS)}, ${secondsAgo('86400')} from ${numbers(MARKED * MARKERS_PER_VIDEO)}`)
}

/** With the counts that triggers would make. */
function fillFollows(db: Sqlite, live: number): void {
  const [follower, place] = [`n / ${FOLLOWED}`, `n % ${FOLLOWED}`]
  const followed = `iif(${place} < ${FOLLOWED_LIVE}, (7 * (${follower}) + 131 * (${place})) % ${live},
    ${live} + (${follower} + 13 * (${place})) % ${FOLLOWERS})`
  db.run(`insert into follows (user_id, broadcaster_id, followed_at)
    select ${ID(`${live} + ${follower}`)}, ${ID(followed)}, ${secondsAgo(between(1, 400 * 86_400))}
    from ${numbers(FOLLOWERS * FOLLOWED)}`)
  db.run(`insert into follow_counts (user_id, following, followers)
    select id, sum(following), sum(followers) from (
      select user_id as id, 1 as following, 0 as followers from follows
      union all select broadcaster_id, 0, 1 from follows
    ) group by id`)
}

/** Nine of ten belong to the app's organization; in order of time, as they would have been granted. */
function fillEntitlements(db: Sqlite, { streams, entitlements: count }: WorldSize): void {
  const holders = Math.min(streams, Math.ceil(count / ROWS_PER_USER))
  const granted = `(unixepoch() - 90 * 86400) * 1000 + cast(n * (89.0 * 86400000 / ${count}) as integer)`
  // Materialized: what is drawn must not be drawn again for each column.
  db.run(`with drawn as materialized (select n, hex(randomblob(16)) as h, ${granted} as granted,
      case when random() % 10 = 0 then ${OWN_GAMES} else ${between(0, OWN_GAMES - 1)} end as game from ${numbers(count)})
    insert into organization_entitlements
      (id, organization, benefit, user_id, game_id, timestamp, fulfilled, last_updated)
    select unhex(substr(h, 1, 12) || '4' || substr(h, 14, 3) || '8' || substr(h, 18)), 1 + (game = ${OWN_GAMES}),
      1 + game, ${ID(between(0, holders - 1))}, ${GAME('game')}, granted, n < ${0.7 * count}, granted from drawn`)
}

function sampleEntitlements(db: Sqlite, { entitlements: count }: WorldSize) {
  const batchEvery = Math.max(ROWS_PER_BATCH, Math.floor(count / MAX_BATCHES))
  const sampleEvery = Math.max(1, Math.floor(count / SAMPLES))
  const own = `(select id, user_id, game_id, row_number() over (order by timestamp, id) as n
    from organization_entitlements where organization = 1)`
  const find = (condition: string) =>
    db.query(`select * from ${own} where ${condition}`).all() as StoredHolding[]
  const entitlements = find(`n % ${sampleEvery} = 0`).map(row => ({ ...row, id: uuidText(row.id) }))
  const rows = find(`n % ${batchEvery} < ${BATCH_SIZE}`)
  const batches = Map.groupBy(rows, ({ n }) => Math.floor(n / batchEvery)).values()
  const full = [...batches].filter(batch => batch.length === BATCH_SIZE)
  return { entitlements, batches: full.map(batch => batch.map(({ id }) => uuidText(id))) }
}
