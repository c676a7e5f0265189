import type { Key } from '../../contract/page.ts'
import { FULFILLMENT_STATUSES } from '../../contract/resources/entitlement.ts'
import {
  referencesOf,
  TRANSFER_TYPES,
  type TransferLine,
  type TransferType,
} from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { inOrderOf, keysetPage } from '../keyset.ts'
import { isOneOf, type Sql, sql, tableOf, verbatim } from '../sql/tag.ts'
import { ofAllWithStatus } from './entitlements.ts'
import { clientFlags } from './world.ts'

/**
 * What is read of each type for an export, and by what it is ordered: keys that never change and that an index serves, or
 * serves for each of its ranges.
 */
interface ExportedList {
  readonly select: Sql
  readonly key: readonly string[]
  readonly ranges?: readonly Sql[]
}

const LISTS: Readonly<Record<TransferType, ExportedList>> = {
  organization: { select: sql`select id, name from organizations`, key: ['id'] },
  user: {
    select: sql`select id, login, display_name, created_at, password_hash,
        (select version from stream_keys k where k.user_id = users.id order by version desc limit 1) as version,
        (select key_id from stream_keys k where k.user_id = users.id order by version desc limit 1) as key_id,
        (select sealed from stream_keys k where k.user_id = users.id order by version desc limit 1) as sealed
      from users`,
    key: ['id'],
  },
  member: {
    select: sql`select organization_id, user_id from members`,
    key: ['organization_id', 'user_id'],
  },
  game: { select: sql`select id, name, organization_id from games`, key: ['id'] },
  benefit: { select: sql`select id, name, organization_id, game_id from benefits`, key: ['id'] },
  client: {
    select: sql`select id, name, organization_id, owner_user_id, kind, redirect_uris, secret_hash,${clientFlags('clients')}
      from clients`,
    key: ['id'],
  },
  channel: {
    select: sql`select user_id, title, coalesce(game_id, '') as game_id, language, tags, is_mature, vod_enabled
      from channels`,
    key: ['user_id'],
  },
  editor: { select: sql`select user_id, editor_id from editors`, key: ['user_id', 'editor_id'] },
  follow: { select: sql`select user_id, broadcaster_id from follows`, key: ['user_id', 'broadcaster_id'] },
  video: { select: sql`select id, user_id, created_at, ended_at from videos`, key: ['id'] },
  stream: {
    select: sql`select id, user_id, video_id, started_at, viewer_count from streams`,
    key: ['user_id'],
  },
  marker: {
    select: sql`select id, video_id, position_seconds, description, created_at from markers`,
    key: ['video_id', 'position_seconds', 'id'],
  },
  // By time, as they come to be: read so again, they go to the end of most of their indexes.
  entitlement: {
    select: sql`select id, user_id, benefit_id, game_id, timestamp, fulfillment_status, last_updated,
        (select 1 from users u where u.id = entitlements.user_id) as has_user
      from entitlements`,
    key: ['timestamp', 'id'],
    ranges: FULFILLMENT_STATUSES.map(ofAllWithStatus),
  },
}

/** A row as the store has it. */
export type StoredRow = Readonly<Record<string, string | number | null>>

const ORDERS = new Map(TRANSFER_TYPES.map(type => [type, inOrderOf(...LISTS[type].key)]))

/** Everything of a type, so many rows at a time. */
export async function* allOfType(
  db: Database,
  type: TransferType,
  atOnce: number,
): AsyncGenerator<readonly StoredRow[]> {
  const { select, key, ranges } = LISTS[type]
  const keyOf = (row: StoredRow): Key => key.map(column => row[column] as string | number)
  const order = ORDERS.get(type)
  let from: Key | undefined
  for (let more = order !== undefined; more && order !== undefined; ) {
    const window = { first: atOnce, direction: 'forward' as const, ...(from && { from }) }
    const list = { select, where: [], ...(ranges && { ranges }), order, window, keyOf }
    const page = await keysetPage<StoredRow>(db, list)
    const last = page.rows.at(-1)
    if (last === undefined) return
    yield page.rows
    from = keyOf(last)
    more = page.more
  }
}

/** What the earlier lines of a file have told. */
export interface EarlierLines {
  has(...what: readonly string[]): boolean
}

export const NO_EARLIER_LINES: EarlierLines = { has: () => false }

/** Why a line cannot be, by its place among those asked about. */
export type Refusals = Map<number, string>

const TABLES: Partial<Record<TransferType, string>> = {
  organization: 'organizations',
  user: 'users',
  game: 'games',
  benefit: 'benefits',
  video: 'videos',
}

const REFERENCES = new Map(TRANSFER_TYPES.map(type => [type, referencesOf(type)]))

/** Which lines, all of one type, name something that is neither in the store nor in an earlier line. */
export async function missingReferences(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  earlier: EarlierLines,
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  for (const [field, kind] of REFERENCES.get(type) ?? []) {
    const asked = new Map<number, string>()
    for (const [index, line] of lines.entries()) {
      const id = (line as Record<string, unknown>)[field] as string | null | undefined
      if (!id || refusals.has(index) || earlier.has(kind, id)) continue
      if (type === 'entitlement' && field === 'user_id' && (line as TransferLine<'entitlement'>).user_deleted)
        continue
      asked.set(index, id)
    }
    const known = await knownIds(db, kind, new Set(asked.values()))
    for (const [index, id] of asked) {
      if (!known.has(id)) refusals.set(index, `"${field}" names the ${kind} "${id}", which does not exist`)
    }
  }
  return refusals
}

async function knownIds(db: Database, kind: TransferType, ids: ReadonlySet<string>): Promise<Set<string>> {
  if (ids.size === 0) return new Set()
  const rows = await db.all<{ id: string }>(
    sql`select id from ${verbatim(TABLES[kind] ?? '')} where ${isOneOf(sql`id`, [...ids])}`,
  )
  return new Set(rows.map(row => row.id))
}

type Conflicts<T extends TransferType> = (
  db: Database,
  lines: readonly TransferLine<T>[],
  earlier: EarlierLines,
) => Promise<(line: TransferLine<T>) => string | undefined>

const ids = (lines: readonly { readonly id: string }[]) => lines.map(line => line.id)

/** Logins that somebody else has, unless that one was renamed by an earlier line. */
const takenLogins: Conflicts<'user'> = async (db, lines, earlier) => {
  const rows = await db.all<{ id: string; login: string }>(
    sql`select id, login from users where ${isOneOf(
      sql`login`,
      lines.map(line => line.login),
    )}`,
  )
  const holders = new Map(rows.map(row => [row.login, row.id]))
  const renamed = new Set<string>()
  return line => {
    const holder = holders.get(line.login)
    const isFree = holder === undefined || holder === line.id || renamed.has(holder)
    renamed.add(line.id)
    if (isFree || earlier.has('user', holder)) return undefined
    return `the login "${line.login}" is taken by the user "${holder}"`
  }
}

/** To whom or what the rows of a table belong, by their ids. */
async function ownersIn(
  db: Database,
  table: 'benefits' | 'videos' | 'markers',
  column: 'organization_id' | 'user_id' | 'video_id',
  named: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; owner: string }>(
    sql`select id, ${verbatim(column)} as owner from ${verbatim(table)} where ${isOneOf(sql`id`, named)}`,
  )
  return new Map(rows.map(row => [row.id, row.owner]))
}

/** A benefit never moves to another organization: its entitlements are that organization's. */
const movedBenefits: Conflicts<'benefit'> = async (db, lines) => {
  const owners = await ownersIn(db, 'benefits', 'organization_id', ids(lines))
  return line =>
    (owners.get(line.id) ?? line.organization_id) === line.organization_id
      ? undefined
      : `the benefit "${line.id}" belongs to another organization, and cannot move`
}

const movedVideos: Conflicts<'video'> = async (db, lines) => {
  const owners = await ownersIn(db, 'videos', 'user_id', ids(lines))
  return line =>
    (owners.get(line.id) ?? line.user_id) === line.user_id
      ? undefined
      : `the video "${line.id}" belongs to another user`
}

/** One stream a channel, one channel a stream; and its video is the channel's. */
const clashingStreams: Conflicts<'stream'> = async (db, lines, earlier) => {
  const running = await db.all<{ id: string; user_id: string }>(
    sql`select id, user_id from streams where ${isOneOf(
      sql`user_id`,
      lines.map(line => line.user_id),
    )} or ${isOneOf(sql`id`, ids(lines))}`,
  )
  const ofUser = new Map(running.map(row => [row.user_id, row.id]))
  const ofStream = new Map(running.map(row => [row.id, row.user_id]))
  const owners = await ownersIn(
    db,
    'videos',
    'user_id',
    lines.map(line => line.video_id ?? line.id),
  )
  return line => {
    if ((ofUser.get(line.user_id) ?? line.id) !== line.id)
      return `the channel of the user "${line.user_id}" is live with another stream`
    if ((ofStream.get(line.id) ?? line.user_id) !== line.user_id)
      return `the stream "${line.id}" belongs to another user`
    if (line.video_id === null) return undefined
    const video = line.video_id ?? line.id
    const owner = owners.get(video)
    const isAnothers = owner === undefined ? earlier.has('video', video) : owner !== line.user_id
    return isAnothers && !earlier.has('video', video, line.user_id)
      ? `the video "${video}" belongs to another user`
      : undefined
  }
}

const movedMarkers: Conflicts<'marker'> = async (db, lines) => {
  const videos = await ownersIn(db, 'markers', 'video_id', ids(lines))
  return line =>
    (videos.get(line.id) ?? line.video_id) === line.video_id
      ? undefined
      : `the marker "${line.id}" belongs to another video`
}

/** An entitlement as far as it never changes. */
type Granted = Pick<TransferLine<'entitlement'>, 'id' | 'user_id' | 'benefit_id' | 'game_id' | 'timestamp'>

const otherEntitlements: Conflicts<'entitlement'> = async (db, lines) => {
  const rows = await db.all<Granted>(
    sql`select id, user_id, benefit_id, game_id, timestamp from entitlements where ${isOneOf(sql`id`, ids(lines))}`,
  )
  const known = new Map(rows.map(row => [row.id, row]))
  return line => {
    const found = known.get(line.id)
    const isSame =
      found === undefined ||
      (found.user_id === line.user_id &&
        found.benefit_id === line.benefit_id &&
        found.game_id === line.game_id &&
        found.timestamp === line.timestamp)
    return isSame ? undefined : `the entitlement "${line.id}" exists with other content`
  }
}

const CONFLICTS: { readonly [T in TransferType]?: Conflicts<T> } = {
  user: takenLogins,
  benefit: movedBenefits,
  video: movedVideos,
  stream: clashingStreams,
  marker: movedMarkers,
  entitlement: otherEntitlements,
}

/** Which lines, all of one type, contradict what is in the store. */
export async function conflictsWith(
  db: Database,
  type: TransferType,
  lines: readonly TransferLine[],
  earlier: EarlierLines,
): Promise<Refusals> {
  const refusals: Refusals = new Map()
  const find = CONFLICTS[type] as Conflicts<TransferType> | undefined
  if (find === undefined) return refusals
  const conflictOf = await find(db, lines, earlier)
  for (const [index, line] of lines.entries()) {
    const conflict = conflictOf(line)
    if (conflict !== undefined) refusals.set(index, conflict)
  }
  return refusals
}

export const transferQueries = (db: Database) => ({
  missingReferences: (type: TransferType, lines: readonly TransferLine[], earlier: EarlierLines) =>
    missingReferences(db, type, lines, earlier),
  conflictsWith: (type: TransferType, lines: readonly TransferLine[], earlier: EarlierLines) =>
    conflictsWith(db, type, lines, earlier),

  /** The passwords and the stream keys that these users have now. */
  secretsOf: (user_ids: readonly string[]) =>
    db.all<StoredSecrets>(
      sql`select u.id as user_id, u.password_hash, k.version, k.key_id, k.sealed
          from users u join stream_keys k on k.user_id = u.id
          where ${isOneOf(sql`u.id`, user_ids)}
            and k.version = (select max(version) from stream_keys l where l.user_id = u.id)`,
    ),
})

export interface StoredSecrets {
  readonly user_id: string
  readonly password_hash: string | null
  readonly version: number
  readonly key_id: string
  readonly sealed: string
}

/** Pairs that are there already, as `a b`. */
export async function knownPairs(
  db: Database,
  table: 'members' | 'editors' | 'follows',
  columns: readonly [string, string],
  pairs: readonly Readonly<Record<string, string>>[],
): Promise<Set<string>> {
  const [a, b] = columns
  const rows = await db.all<{ pair: string }>(
    sql`select ${verbatim(`known.${a} || ' ' || known.${b}`)} as pair from ${verbatim(table)} as known
        join ${tableOf(pairs, [a, b])} as given
          on ${verbatim(`given.${a} = known.${a} and given.${b} = known.${b}`)}`,
  )
  return new Set(rows.map(row => row.pair))
}
