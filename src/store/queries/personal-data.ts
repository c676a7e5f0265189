/**
 * Which tables have data about a person, how its rows are found, and what becomes of them when the user is deleted. Every table of
 * the schema is in one of the two lists, and every column of the first: `test/store/personal-data.test.ts` compares them.
 *
 * An export reads tables one after another, a batch of rows at a time, so that a person with a million follows needs no more
 * memory than another.
 */
import { isoMillis } from '../../kit/time/clock.ts'
import type { Database } from '../database.ts'
import {
  all,
  isOneOf,
  joined,
  limitedTo,
  type Scalar,
  type Sql,
  sql,
  uuidValue,
  verbatim,
} from '../sql/tag.ts'
import { readUuid } from './entitlement-rows.ts'

/** Some of the rows of a person, in an order that an index serves as far as there may be many. */
interface Range {
  readonly where: Sql
  /** The columns that identify a row within the range. */
  readonly key: readonly string[]
}

interface PersonalTable {
  readonly table: string
  readonly columns: readonly string[]
  /** Columns whose value is replaced by `withheld` where there is one. */
  readonly secrets: readonly string[]
  ranges(db: Database, user_id: string): readonly Range[] | Promise<readonly Range[]>
  /** What is shown in place of a column. */
  readonly expressions?: Readonly<Record<string, string>>
  readonly read?: Readonly<Record<string, (value: Scalar) => unknown>>
  /** Why rows stay when the user is deleted, and until when. Absent: they are deleted with the user. */
  readonly kept?: string
}

/** A row of a table, as an export has it. */
export type PersonalRow = Readonly<Record<string, unknown>>

const words = (text: string): readonly string[] => text.split(', ').filter(word => word !== '')

/** A table whose rows have the id of the person in one of these columns; a row in which both are is found once. */
function personal(
  table: string,
  {
    by,
    key,
    columns,
    secrets = '',
    ...more
  }: {
    readonly by: string
    readonly key: string
    readonly columns: string
    readonly secrets?: string
  } & Pick<PersonalTable, 'kept' | 'expressions' | 'read'>,
): PersonalTable {
  const owners = words(by)
  return {
    table,
    columns: words(columns),
    secrets: words(secrets),
    ranges: (_db, user_id) =>
      owners.map((owner, index) => ({
        where: all([
          sql`${verbatim(owner)} = ${user_id}`,
          ...owners.slice(0, index).map(earlier => sql`coalesce(${verbatim(earlier)}, '') <> ${user_id}`),
        ]),
        key: words(key),
      })),
    ...more,
  }
}

const json = (value: Scalar): unknown => (value === null ? null : JSON.parse(String(value)))
const flag = (value: Scalar): unknown => (value === null ? null : Number(value) === 1)
const number = (value: Scalar): unknown => (value === null ? null : Number(value))
const time = (value: Scalar): string => isoMillis(Number(value))
const uuid = (value: Scalar): string => readUuid(value as string | Uint8Array)

const ENTITLEMENTS: PersonalTable = {
  table: 'organization_entitlements',
  columns: words('organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id, campaign'),
  secrets: [],
  expressions: {
    organization: '(select organization_id from entitlement_organizations o where o.number = organization)',
    benefit: '(select benefit_id from entitlement_benefits b where b.number = benefit)',
    campaign: '(select c.id from campaigns c where c.number = campaign)',
  },
  read: { timestamp: time, id: uuid, last_updated: time, fulfilled: flag },
  async ranges(db, user_id) {
    const owners = await db.all<{ owner: number }>(
      sql`select distinct organization + 0 as owner from organization_entitlements where user_id = ${user_id}`,
    )
    return owners.flatMap(({ owner }) =>
      [0, 1].map(fulfilled => ({
        where: sql`user_id = ${user_id} and (organization + 0) = ${owner} and fulfilled = ${fulfilled}`,
        key: ['timestamp', 'id'],
      })),
    )
  },
  kept: 'They belong to the organizations that granted them, and stay until these have them deleted.',
}

/** Clients whose name is looked for in the audit log at once. */
const BATCH_SIZE = 500

const AUDIT: PersonalTable = {
  table: 'audit',
  columns: words('chain, seq, at, actor, operation, subject, place, before, after, previous, hash'),
  secrets: [],
  read: { seq: number, before: json, after: json },
  async ranges(db, user_id) {
    const subjects = ['user', 'channel'].map(kind => {
      const subject = `${kind}/${user_id}`
      // The character after a slash is a zero.
      return sql`place = '' and (subject = ${subject} or subject >= ${`${subject}/`} and subject < ${`${subject}0`})`
    })
    const isAbout = joinedBy(subjects)
    const ranges: Range[] = subjects.map(where => ({ where, key: ['subject', 'at', 'chain', 'seq'] }))
    for (const actor of await findActors(db, user_id)) {
      const operations = await db.all<{ operation: string }>(
        sql`select distinct operation from audit where actor = ${actor}`,
      )
      for (const { operation } of operations)
        ranges.push({
          where: sql`actor = ${actor} and (operation || '') = ${operation} and not (${isAbout})`,
          key: ['at', 'chain', 'seq'],
        })
    }
    return ranges
  },
  kept: 'Its rows name the user, with old and new values, until STRAND_KEEP_AUDIT_DAYS have passed. They cannot be changed.',
}

const joinedBy = ([one, other]: readonly Sql[]): Sql =>
  sql`(${one ?? verbatim('1 = 0')}) or (${other ?? verbatim('1 = 0')})`

/** The names under which a person changes something: alone, or with a client. */
async function findActors(db: Database, user_id: string): Promise<string[]> {
  const actors = [`user/${user_id}`]
  for (let after = ''; ; ) {
    const clients = await db.all<{ id: string }>(
      sql`select id from clients where id > ${after} order by id${limitedTo(BATCH_SIZE)}`,
    )
    const names = clients.map(({ id }) => `client/${id}/user/${user_id}`)
    if (names.length > 0) {
      const found = await db.all<{ actor: string }>(
        sql`select distinct actor from audit where ${isOneOf(sql`actor`, names)}`,
      )
      actors.push(...found.map(({ actor }) => actor))
    }
    const last = clients.at(-1)
    if (last === undefined || clients.length < BATCH_SIZE) return actors
    after = last.id
  }
}

const ofVideos = (user_id: string): Sql => sql`video_id in (select id from videos where user_id = ${user_id})`

/** The tables with data about a person, in the order of an export. */
export const PERSONAL_TABLES: readonly PersonalTable[] = [
  personal('users', {
    by: 'id',
    key: 'id',
    columns:
      'id, login, display_name, display_name_normalized, description, links, broadcaster_type, email, reset_expires_at, created_at, suspended_at, suspension_reason',
    secrets: 'password_hash, reset_hash',
    read: { links: json },
  }),
  personal('channels', {
    by: 'user_id',
    key: 'user_id',
    columns:
      'user_id, title, game_id, language, tags, is_mature, vod_enabled, delay, content_labels, is_branded_content, second_publisher',
    read: { tags: json, content_labels: json, is_mature: flag, vod_enabled: flag, is_branded_content: flag },
  }),
  personal('stream_keys', {
    by: 'user_id',
    key: 'version',
    columns: 'user_id, version, key_id, valid_until',
    secrets: 'sealed, lookup_hash',
  }),
  personal('extra_stream_keys', {
    by: 'user_id',
    key: 'name',
    columns: 'user_id, name, key_id, created_at, valid_until',
    secrets: 'sealed, lookup_hash',
  }),
  personal('sessions', {
    by: 'user_id',
    key: 'hash',
    columns: 'id, user_id, created_at, seen_at, expires_at, browser',
    secrets: 'hash',
  }),
  personal('connections', {
    by: 'user_id',
    key: 'client_id',
    columns: 'user_id, client_id, scopes, created_at',
    read: { scopes: json },
  }),
  personal('tokens', {
    by: 'user_id',
    key: 'hash',
    columns: 'kind, client_id, user_id, scopes, expires_at, used_at',
    secrets: 'hash, family',
    read: { scopes: json },
  }),
  personal('authorization_codes', {
    by: 'user_id',
    key: 'hash',
    columns: 'client_id, user_id, redirect_uri, scopes, authenticated_at, expires_at, used_at',
    secrets: 'hash, challenge, family, nonce',
    read: { scopes: json },
  }),
  personal('device_codes', {
    by: 'user_id',
    key: 'hash',
    columns: 'client_id, user_id, scopes, decision, network, expires_at',
    secrets: 'hash, user_code',
    read: { scopes: json },
  }),
  personal('clients', {
    by: 'owner_user_id',
    key: 'id',
    columns:
      'id, name, organization_id, owner_user_id, kind, redirect_uris, implicit_grant, device_flow, counts_watching',
    secrets: 'secret_hash',
    read: { redirect_uris: json, implicit_grant: flag, device_flow: flag, counts_watching: flag },
    kept: 'They stay registered without an owner, for the people who use them.',
  }),
  personal('members', {
    by: 'user_id',
    key: 'organization_id',
    columns: 'organization_id, user_id',
  }),
  personal('follow_counts', {
    by: 'user_id',
    key: 'user_id',
    columns: 'user_id, following, followers',
    read: { following: number, followers: number },
  }),
  // Followers of the person are data about others: `follow_counts` has their number.
  personal('follows', {
    by: 'user_id',
    key: 'broadcaster_id',
    columns: 'user_id, broadcaster_id, followed_at',
  }),
  personal('editors', {
    by: 'user_id, editor_id',
    key: 'user_id, editor_id',
    columns: 'user_id, editor_id, created_at',
  }),
  personal('streams', {
    by: 'user_id',
    key: 'user_id',
    columns: 'user_id, id, video_id, started_at, viewer_count, stopped_at',
  }),
  personal('videos', {
    by: 'user_id',
    key: 'created_at, id',
    columns:
      'id, user_id, stream_id, created_at, ended_at, title, description, language, game_id, view_count, recording_url',
  }),
  {
    table: 'video_markers',
    columns: words('video_id, position_seconds, id, description, created_at'),
    secrets: [],
    ranges: (_db, user_id) => [{ where: ofVideos(user_id), key: ['video_id', 'position_seconds', 'id'] }],
  },
  {
    table: 'recording_files',
    columns: words('video_id, part, folder, url, state, playlist, published_at, changed_at'),
    secrets: [],
    ranges: (_db, user_id) => [{ where: ofVideos(user_id), key: ['video_id', 'part'] }],
    kept: 'They name files, not the user, and are deleted with their files.',
  },
  personal('publish_sessions', {
    by: 'user_id',
    key: 'adapter, server, session',
    columns:
      'adapter, server, session, user_id, published_as, stream_id, watch_url, started_at, alive_at, ended_at, recorded_at, dismissed_at, encoder',
    read: { encoder: json },
  }),
  personal('media_servers', {
    by: 'user_id',
    key: 'name',
    columns: 'name, adapter, previous_until, api_url, playback_url, user_id, created_at',
    secrets: 'secret_hash, previous_hash',
  }),
  personal('watched_minutes', {
    by: 'user_id',
    key: 'user_id',
    columns: 'user_id, slot, recent',
  }),
  personal('drop_progress', {
    by: 'user_id',
    key: 'campaign',
    columns: 'campaign, user_id, minutes',
  }),
  personal('drop_claims', {
    by: 'user_id',
    key: 'drop_id, benefit_id',
    columns: 'user_id, drop_id, benefit_id, entitlement_id, claimed_at, source',
    read: { entitlement_id: uuid },
  }),
  personal('campaign_channels', {
    by: 'user_id',
    key: 'campaign_id',
    columns: 'campaign_id, user_id',
  }),
  ENTITLEMENTS,
  personal('event_subscriptions', {
    by: 'owner, authorized_by',
    key: 'created_at, id',
    columns:
      'id, client_id, owner, type, version, condition, topic, authorized_by, status, cost, method, callback, session_id, connected_at, target, lane, identity, key_id, created_at, ended_at, deleted_at',
    secrets: 'sealed',
    read: { condition: json },
    kept: 'They have ended, and are deleted after STRAND_KEEP_EVENTS_DAYS.',
  }),
  personal('events', {
    by: 'subject',
    key: 'seq',
    columns: 'seq, id, type, version, subject, occurred_at, body',
    read: { seq: number, body: json },
    kept: 'Events about the user, and about others with whom the user had to do, are deleted after STRAND_KEEP_EVENTS_DAYS.',
  }),
  personal('idempotency_keys', {
    by: 'user_id',
    key: 'client_id, name',
    columns: 'client_id, user_id, name, answer, created_at',
    secrets: 'fingerprint',
    read: { answer: json },
    kept: 'They are deleted 24 hours after their request.',
  }),
  AUDIT,
]

/** A table that an export leaves out. */
export interface OtherTable {
  /** Why an export has none of its rows. */
  readonly reason: string
  /** Why a row may name a user who was deleted, and until when. */
  readonly kept?: string
}

const NO_PERSON = 'It has no data about users.'
const SHARED_BRIEFLY = 'Its rows repeat other tables for some minutes.'

export const OTHER_TABLES: Readonly<Record<string, OtherTable>> = {
  organizations: { reason: NO_PERSON },
  games: { reason: NO_PERSON },
  benefits: { reason: NO_PERSON },
  entitlement_organizations: { reason: NO_PERSON },
  entitlement_benefits: { reason: NO_PERSON },
  campaigns: { reason: NO_PERSON },
  campaign_drops: { reason: NO_PERSON },
  campaign_drop_benefits: { reason: NO_PERSON },
  signing_keys: { reason: NO_PERSON },
  operator_tokens: { reason: 'Its names are those of operators.' },
  event_deliveries: { reason: 'Its rows are messages to clients; the events in them are in the export.' },
  event_queues: { reason: NO_PERSON },
  event_sockets: { reason: NO_PERSON },
  audit_heads: { reason: NO_PERSON },
  audit_entitlements: { reason: NO_PERSON },
  playback_viewers: {
    reason: 'It has random ids of players on a channel, not of people.',
    kept: 'Its rows name the channel until the next sweep.',
  },
  disconnected_publishers: {
    reason: 'It has publishers of users who were deleted.',
    kept: 'A media server must not bring back the publisher for another user with the login; deleted after some days.',
  },
  feed: { reason: SHARED_BRIEFLY, kept: 'Its rows are deleted after ten minutes.' },
  feed_head: { reason: NO_PERSON },
  rate_buckets: {
    reason: 'It counts requests and failed logins.',
    kept: 'Its rows are deleted when their limit is full again, within a day.',
  },
  turns: { reason: NO_PERSON },
  facts: { reason: NO_PERSON },
  schema_versions: { reason: NO_PERSON },
  schema_progress: { reason: NO_PERSON },
}

export const WITHHELD = 'withheld'

/** The rows of a person in a table, in batches. */
export async function* personalRows(
  db: Database,
  table: PersonalTable,
  user_id: string,
  atOnce: number,
): AsyncGenerator<readonly PersonalRow[]> {
  for (const { where, key } of await table.ranges(db, user_id)) {
    const place = (name: string) => `${table.table}.${name}`
    const order = verbatim(key.map(place).join(', '))
    const select = verbatim(
      `select ${[...shown(table), ...key.map((name, n) => `${place(name)} as key_${n}`)].join(', ')} from ${table.table}`,
    )
    for (let after: readonly Scalar[] | undefined; ; ) {
      const isAfter =
        after &&
        sql`(${order}) > (${joined(
          key.map((name, n) => keyValue(table, name, after?.[n] ?? null)),
          ', ',
        )})`
      const rows = await db.all<Record<string, Scalar>>(
        sql`${select} where ${all(isAfter === undefined ? [where] : [where, isAfter])} order by ${order}${limitedTo(atOnce)}`,
      )
      if (rows.length > 0) yield rows.map(row => readRow(table, row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < atOnce) break
      after = key.map((_name, n) => last[`key_${n}`] ?? null)
    }
  }
}

/** The value of a key as the engine compares it: PostgreSQL returns large integers as text. */
function keyValue({ read }: PersonalTable, name: string, value: Scalar) {
  if (read?.[name] === uuid) return uuidValue(value as string | Uint8Array)
  return read?.[name] === number || read?.[name] === time ? Number(value) : value
}

function shown({ table, columns, secrets, expressions }: PersonalTable): string[] {
  return [
    ...columns.map(name => `${expressions?.[name] ?? `${table}.${name}`} as ${name}`),
    ...secrets.map(name => `case when ${table}.${name} is null then null else '${WITHHELD}' end as ${name}`),
  ]
}

function readRow(
  { columns, secrets, read }: PersonalTable,
  row: Readonly<Record<string, Scalar>>,
): PersonalRow {
  const found: Record<string, unknown> = {}
  for (const name of [...columns, ...secrets]) {
    const value = row[name] ?? null
    found[name] = read?.[name]?.(value) ?? value
  }
  return found
}

/** How many rows of a person each table has, without those that have none. */
export async function countPersonalRows(
  db: Database,
  user_id: string,
): Promise<{ table: PersonalTable; rows: number }[]> {
  const counts: { table: PersonalTable; rows: number }[] = []
  for (const table of PERSONAL_TABLES) {
    let rows = 0
    for (const { where } of await table.ranges(db, user_id)) {
      const found = await db.get<{ count: number | string }>(
        sql`select count(*) as count from ${verbatim(table.table)} where ${where}`,
      )
      rows += Number(found?.count ?? 0)
    }
    if (rows > 0) counts.push({ table, rows })
  }
  return counts
}

/** The files of recordings that embedded media servers made of a person. */
export async function countMedia(db: Database, user_id: string): Promise<number> {
  const found = await db.get<{ count: number | string }>(
    sql`select count(*) as count from recording_files where ${ofVideos(user_id)}`,
  )
  return Number(found?.count ?? 0)
}
