/**
 * The world that the scenarios run in, written straight into the tables. Commands would make the same rows, an hour later:
 * a stream is five rows in five tables, and there are 100,000 of them beside 1,000,000 entitlements. The engine makes the
 * schema; then the secondary indexes are taken away, the tables filled without waiting for the disk, and the same indexes
 * put back.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { type Issue, issueAppToken, issueUserToken } from '../../src/auth/tokens.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { ADJECTIVES, ANIMALS, LANGUAGES, MARKERS, TAGS, TITLES } from '../../src/demo/names.ts'
import { isoMillis, isoSeconds } from '../../src/kit/clock.ts'
import { KeyRing } from '../../src/kit/key-ring.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'

const SEED = 20
const DAY = 24 * 3600 * 1000
const TOKEN_SECONDS = 24 * 3600
const GAMES = 500
const OWN_GAMES = 5
const MARKING = 64
/** In a world of fewer live streams all others are callers. */
const MAX_CALLERS = 2000
const MARKED = 64
const FOLLOWERS = 2000
const OFFLINE = 3000
const SAMPLES = 2000
const MAX_BATCHES = 100
/** Batches do not overlap, though only nine of ten rows are ours. */
const ROWS_PER_BATCH = 150
const BATCH_SIZE = 100
const ROWS_PER_USER = 20
/** Of the most followed channel: for each live stream so many, 1,000,000 in the usual world. */
const FANS_PER_STREAM = 10

const MARKERS_PER_VIDEO = 200
const FOLLOWED = 500
export const FOLLOWED_LIVE = 40
/** Below these the roles do not fit. */
export const SMALLEST = { streams: 1000, entitlements: 10_000 } as const

export interface WorldSize {
  readonly streams: number
  readonly entitlements: number
}

/** About how long a world takes to make, where the figures are from. */
export function secondsToMake({ streams, entitlements }: WorldSize): number {
  return 5 + streams / 12_000 + entitlements / 70_000
}

interface TokenHolder {
  readonly id: string
  readonly token: string
}

/** What a server of this world must be given. */
export interface Secrets {
  /** In the form of STRAND_MASTER_KEYS. */
  readonly masterKeys: string
  readonly operatorToken: string
}

/** What scenarios need to know of the world. */
export interface BenchWorld {
  readonly folder: string
  readonly storeFile: string
  readonly secrets: Secrets
  readonly size: WorldSize
  readonly gameIds: readonly string[]
  readonly languages: readonly string[]
  /** Everybody who is live. Those with a role come first. */
  readonly liveIds: readonly string[]
  /** Live broadcasters; the videos of the first ones have 200 markers each. */
  readonly callers: readonly TokenHolder[]
  readonly marked: readonly TokenHolder[]
  /** Live broadcasters whose videos take the markers that a scenario creates. */
  readonly marking: readonly (TokenHolder & { readonly videoId: string })[]
  /** They follow 500 channels of which 40 are live. */
  readonly followers: readonly TokenHolder[]
  readonly appToken: string
  /** The organization of the app. */
  readonly organization: string
  /** The id of the channel with ten followers for each live stream. */
  readonly mostFollowed: string
  /** Entitlements of the app's organization, drawn from all of them. */
  readonly entitlements: readonly {
    readonly id: string
    readonly user_id: string
    readonly game_id: string
  }[]
  /** Ids as a page of 100 lists them: neighbours in time. */
  readonly batches: readonly (readonly string[])[]
}

interface Filling {
  readonly db: Sqlite
  readonly random: SeededRandom
  readonly now: number
}

interface Person {
  readonly id: string
  readonly login: string
}

export async function makeWorld(
  folder: string,
  size: WorldSize,
  output: (progress: string) => void,
): Promise<BenchWorld> {
  const storeFile = join(folder, 'strand.db')
  await (await openSqliteEngine(storeFile)).close()
  const master = { id: 'bench', bytes: new Uint8Array(randomBytes(32)) }
  const filling = { db: new Sqlite(storeFile), random: new SeededRandom(SEED), now: Date.now() }
  const { db } = filling
  db.run('pragma synchronous = off')
  db.run('pragma foreign_keys = off')
  db.run('pragma cache_size = -262144')
  const [indexes, triggers] = [takeAway(db, 'index'), takeAway(db, 'trigger')]

  output('games, organizations, clients')
  const platform = fillPlatform(filling)
  output(`${size.streams} live channels`)
  const people = inventPeople(size.streams + OFFLINE)
  const live = people.slice(0, size.streams)
  const offline = people.slice(size.streams)
  inOneCommit(db, () => fillPeople(filling, people, new StreamKeys(new KeyRing([master])), platform.gameIds))
  inOneCommit(db, () => fillStreams(filling, live))
  const tokens = new Map<string, string>()
  const withToken = (each: Person): TokenHolder => ({ id: each.id, token: tokens.get(each.id) ?? '' })
  const marking = live.slice(0, MARKING)
  const callers = live.slice(MARKING, MARKING + MAX_CALLERS)
  const followers = offline.slice(0, FOLLOWERS)
  inOneCommit(db, () => {
    for (const { id } of [...callers, ...marking, ...followers]) {
      const owner = { client_id: platform.clientId, user_id: id, scopes: SCOPES }
      const lifetimes = { user_seconds: TOKEN_SECONDS, refresh_seconds: TOKEN_SECONDS }
      tokens.set(id, insertTokens(db, issueUserToken(owner, filling.now, lifetimes)))
    }
    fillFollows(filling, followers, live, offline.slice(FOLLOWERS))
    fillMarkers(filling, callers.slice(0, MARKED))
  })
  const [mostFollowed = ''] = live.map(each => each.id)
  const fans = size.streams * FANS_PER_STREAM
  output(`${fans} followers of one channel`)
  inOneCommit(db, () => {
    fillFans(filling, mostFollowed, fans)
    countFollows(filling)
  })
  output(`${size.entitlements} entitlements`)
  const entitled = inOneCommit(db, () => fillEntitlements(filling, size.entitlements, people, platform))
  output(`${indexes.length} indexes`)
  for (const statement of [...indexes, ...triggers]) db.run(statement)
  db.run('pragma wal_checkpoint(truncate)')
  db.close()
  return {
    folder,
    storeFile,
    secrets: {
      masterKeys: `${master.id}:${Buffer.from(master.bytes).toString('base64')}`,
      operatorToken: randomBytes(20).toString('hex'),
    },
    size,
    gameIds: platform.gameIds,
    languages: [...new Set(LANGUAGES)],
    liveIds: live.map(each => each.id),
    callers: callers.map(withToken),
    marked: callers.slice(0, MARKED).map(withToken),
    marking: marking.map(each => ({ ...withToken(each), videoId: videoOf(each) })),
    followers: followers.map(withToken),
    appToken: platform.appToken,
    organization: platform.organization,
    mostFollowed,
    ...entitled,
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

function inOneCommit<T>(db: Sqlite, fill: () => T): T {
  db.run('begin')
  const made = fill()
  db.run('commit')
  return made
}

type Insert = (...values: (string | number | Uint8Array | null)[]) => void

function inserter(db: Sqlite, table: string, columns: string): Insert {
  const marks = columns.split(',').map(() => '?')
  const statement = db.query(`insert into ${table} (${columns}) values (${marks.join(', ')})`)
  return (...values) => {
    statement.run(...values)
  }
}

interface Platform {
  readonly clientId: string
  readonly appToken: string
  readonly gameIds: readonly string[]
  readonly ownGames: readonly { readonly id: string; readonly benefit: string }[]
  readonly otherGame: { readonly id: string; readonly benefit: string }
  readonly organization: string
  readonly otherOrganization: string
}

/** Two organizations: ours with five games and a client, another one with one game. */
function fillPlatform({ db, now }: Filling): Platform {
  const [organization, otherOrganization] = [crypto.randomUUID(), crypto.randomUUID()]
  const insertOrganization = inserter(db, 'organizations', 'id, name')
  insertOrganization(organization, 'Reef Interactive')
  insertOrganization(otherOrganization, 'Northlight Games')

  const gameIds = Array.from({ length: GAMES }, (_, index) => String(30_000 + index * 37))
  const insertGame = inserter(db, 'games', 'id, name, organization_id')
  for (const [index, id] of gameIds.entries()) {
    const owner = index < OWN_GAMES ? organization : index === OWN_GAMES ? otherOrganization : null
    insertGame(id, `Tidefall ${index + 1}`, owner)
  }
  const insertBenefit = inserter(db, 'benefits', 'id, name, organization_id, game_id')
  const [otherGame, ...ownGames] = gameIds
    .slice(0, OWN_GAMES + 1)
    .reverse()
    .map(id => ({ id, benefit: crypto.randomUUID() }))
  if (otherGame === undefined) throw new Error('there are games')
  for (const each of ownGames) insertBenefit(each.benefit, 'Coral lantern', organization, each.id)
  insertBenefit(otherGame.benefit, 'Orchard key', otherOrganization, otherGame.id)

  const clientId = 'benchbenchbenchbenchbenchbench'
  inserter(db, 'clients', 'id, name, organization_id, kind, redirect_uris')(
    clientId,
    'Bench',
    organization,
    'confidential',
    '[]',
  )
  const appToken = insertTokens(db, issueAppToken(clientId, now, TOKEN_SECONDS))
  return { clientId, appToken, gameIds, ownGames, otherGame, organization, otherOrganization }
}

function insertTokens(db: Sqlite, { rows, answer }: Issue): string {
  const insert = inserter(db, 'tokens', 'hash, kind, client_id, user_id, scopes, family, expires_at')
  for (const row of rows) {
    const { hash, kind, client_id, user_id, scopes, family, expires_at } = row
    insert(hash, kind, client_id, user_id, JSON.stringify(scopes), family, expires_at)
  }
  return answer.access_token
}

function inventPeople(count: number): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const adjective = ADJECTIVES[index % ADJECTIVES.length]
    const animal = ANIMALS[Math.floor(index / ADJECTIVES.length) % ANIMALS.length]
    return { id: String(140_000_000 + index * 7), login: `${adjective}_${animal}_${index}` }
  })
}

/** The first games are played by most, as everywhere: the n-th by about 1/n of the first's. */
export function drawGame(random: SeededRandom, gameIds: readonly string[]): string {
  return gameIds[Math.floor(gameIds.length ** random.next()) - 1] ?? '30000'
}

function fillPeople(
  { db, random, now }: Filling,
  people: readonly Person[],
  keys: StreamKeys,
  gameIds: readonly string[],
): void {
  const insertUser = inserter(db, 'users', 'id, login, display_name, created_at')
  const insertKey = inserter(db, 'stream_keys', 'user_id, version, key_id, sealed, lookup_hash')
  const insertChannel = inserter(
    db,
    'channels',
    'user_id, title, game_id, language, tags, is_mature, vod_enabled',
  )
  for (const { id, login } of people) {
    insertUser(
      id,
      login,
      login.replace(/(^|_)[a-z]/g, letter => letter.toUpperCase()),
      isoMillis(now - 400 * DAY),
    )
    const { key_id, sealed, lookup_hash } = keys.mint(id, 1).stored
    insertKey(id, 1, key_id, sealed, lookup_hash)
    const tags = JSON.stringify([random.pick(TAGS), random.pick(TAGS)])
    const title = `${random.pick(TITLES)} | day ${random.between(1, 900)}`
    insertChannel(id, title, drawGame(random, gameIds), random.pick(LANGUAGES), tags, 0, 1)
  }
}

function videoOf({ id }: Person): string {
  return `9${id}`
}

/** Few channels have most of the viewers; the long tail has next to none, and many ties. */
function fillStreams({ db, random, now }: Filling, live: readonly Person[]): void {
  const insertVideo = inserter(db, 'videos', 'id, user_id, created_at')
  const insertStream = inserter(db, 'streams', 'user_id, id, video_id, started_at, viewer_count')
  for (const person of live) {
    const started_at = isoSeconds(now - random.between(60, 36_000) * 1000)
    const viewers = Math.floor(2 / (random.next() + 0.00001))
    insertVideo(videoOf(person), person.id, started_at)
    insertStream(person.id, `40${person.id}`, videoOf(person), started_at, viewers)
  }
}

function fillFollows(
  { db, random, now }: Filling,
  followers: readonly Person[],
  live: readonly Person[],
  offline: readonly Person[],
): void {
  const insert = inserter(db, 'follows', 'user_id, broadcaster_id, followed_at')
  for (const follower of followers) {
    const chosen = new Set<Person>()
    while (chosen.size < FOLLOWED_LIVE) chosen.add(random.pick(live))
    while (chosen.size < FOLLOWED) chosen.add(random.pick(offline))
    for (const each of chosen)
      insert(follower.id, each.id, isoSeconds(now - random.between(1, 400 * 24 * 3600) * 1000))
  }
}

/** Users who do nothing but follow one channel, three each second. */
function fillFans({ db, now }: Filling, broadcaster_id: string, count: number): void {
  const fans = `with recursive fans (n) as (select 1 union all select n + 1 from fans where n < ${count})`
  db.query(
    `${fans} insert into users (id, login, display_name, display_name_folded, created_at)
     select cast(500000000 + n as text), 'fan_' || n, 'Fan_' || n, 'fan_' || n, ? from fans`,
  ).run(isoMillis(now - 400 * DAY))
  db.query(
    `${fans} insert into follows (user_id, broadcaster_id, followed_at)
     select cast(500000000 + n as text), ?, strftime('%Y-%m-%dT%H:%M:%SZ', ? - n / 3, 'unixepoch') from fans`,
  ).run(broadcaster_id, Math.floor(now / 1000))
}

/** As the triggers would have. */
function countFollows({ db }: Filling): void {
  db.run(`insert into follow_counts (user_id, following, followers)
    select id, sum(following), sum(followers) from (
      select user_id as id, 1 as following, 0 as followers from follows
      union all select broadcaster_id, 0, 1 from follows
    ) group by id`)
}

function fillMarkers({ db, random, now }: Filling, people: readonly Person[]): void {
  const insert = inserter(db, 'video_markers', 'id, video_id, position_seconds, description, created_at')
  for (const person of people) {
    for (let position = 0; position < MARKERS_PER_VIDEO; position++) {
      insert(random.hex(32), videoOf(person), position * 15, random.pick(MARKERS), isoSeconds(now - DAY))
    }
  }
}

/** Nine of ten belong to our organization; in order of time, as they would have been granted. */
function fillEntitlements(
  { db, random, now }: Filling,
  count: number,
  people: readonly Person[],
  { organization, otherOrganization, ownGames, otherGame }: Platform,
): Pick<BenchWorld, 'entitlements' | 'batches'> {
  const insertOrganization = inserter(db, 'entitlement_organizations', 'number, organization_id')
  for (const [index, id] of [organization, otherOrganization].entries()) insertOrganization(1 + index, id)
  const insertBenefit = inserter(db, 'entitlement_benefits', 'number, benefit_id')
  const games = [...ownGames, otherGame]
  for (const [index, { benefit }] of games.entries()) insertBenefit(1 + index, benefit)
  const insert = inserter(
    db,
    'organization_entitlements',
    'id, organization, benefit, user_id, game_id, timestamp, fulfilled, last_updated',
  )
  const holders = people.slice(0, Math.ceil(count / ROWS_PER_USER))
  const sampleEvery = Math.max(1, Math.floor(count / SAMPLES))
  const batchEvery = Math.max(ROWS_PER_BATCH, Math.floor(count / MAX_BATCHES))
  const entitlements: BenchWorld['entitlements'][number][] = []
  const batches: string[][] = []
  for (let index = 0; index < count; index++) {
    const isOurs = random.next() < 0.9
    const game = isOurs ? random.pick(ownGames) : otherGame
    const [id, user_id] = [crypto.randomUUID(), random.pick(holders).id]
    const at = now - 90 * DAY + Math.floor((index / count) * 89 * DAY)
    const fulfilled = Number(index < count * 0.7)
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
    insert(bytes, isOurs ? 1 : 2, 1 + games.indexOf(game), user_id, game.id, at, fulfilled, at)
    if (index % batchEvery === 0) batches.push([])
    if (!isOurs) continue
    if (index % sampleEvery === 0) entitlements.push({ id, user_id, game_id: game.id })
    const batch = batches.at(-1)
    if (batch !== undefined && batch.length < BATCH_SIZE) batch.push(id)
  }
  return { entitlements, batches: batches.filter(batch => batch.length === BATCH_SIZE) }
}

/** Every batch set to one status, then every batch to the other: each update changes all of its rows. */
export function updateBatches({ batches }: BenchWorld) {
  const all = (fulfillment_status: string) =>
    batches.map(entitlement_ids => ({ entitlement_ids, fulfillment_status }))
  return [...all('FULFILLED'), ...all('CLAIMED')]
}
