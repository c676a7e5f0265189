import type { Page, PageRequest } from '../../contract/page.ts'
import type { ExtraStreamKey } from '../../contract/resources/stream.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { orderBy } from '../keyset-order.ts'
import { isOneOf, sql, statement } from '../sql/tag.ts'

/** The main key of a channel has versions; extra keys have names. */
export type StreamKeySlot = number | string

/** A key as it is encrypted in the store. */
export interface SealedStreamKey {
  readonly slot: StreamKeySlot
  readonly key_id: string
  readonly sealed: string
}

/** A stored stream key. */
export interface StreamKeyRow extends SealedStreamKey {
  readonly user_id: string
  readonly lookup_hash: string
}

/** The channel that a stream key opens. */
export interface KeyedChannel {
  readonly user_id: string
  readonly login: string
  readonly valid_until: string | null
}

const byName = orderBy('name')
export const extraKeySortKey = byName.sortKey

/** Keys that have not expired. */
export const isValid = (now: string) => sql`(valid_until is null or valid_until > ${now})`

const currentKey = statement(
  ['user_id'],
  ({ user_id }) =>
    sql`select version as slot, key_id, sealed from stream_keys
        where user_id = ${user_id} order by version desc limit 1`,
)

export const streamKeyQueries = (db: Database) => ({
  /** The current main key of a channel. */
  current: (user_id: string) => db.get<SealedStreamKey & { readonly slot: number }>(currentKey({ user_id })),

  /** A valid extra key of a channel. */
  extra: (user_id: string, name: string, now: string) =>
    db.get<SealedStreamKey & ExtraStreamKey>(
      sql`select name as slot, key_id, sealed, name, created_at, valid_until from extra_stream_keys
          where user_id = ${user_id} and name = ${name} and ${isValid(now)}`,
    ),

  /** The extra keys of a channel by name, without the keys; expired ones until they are swept. */
  extras: (user_id: string, window: PageRequest): Promise<Page<ExtraStreamKey>> =>
    keysetPage<ExtraStreamKey>(db, {
      select: sql`select name, created_at, valid_until from extra_stream_keys`,
      where: [sql`user_id = ${user_id}`],
      order: byName,
      window,
    }),

  /** The channel that a key opens, by the hashes under which the key may be stored. The keys of suspended users open none. */
  channelOf: (hashes: readonly string[], now: string) =>
    db.get<KeyedChannel>(
      sql`select k.user_id, u.login, k.valid_until
          from (select user_id, valid_until from stream_keys
                where ${isOneOf(sql`lookup_hash`, hashes)} and ${isValid(now)}
                union all
                select user_id, valid_until from extra_stream_keys
                where ${isOneOf(sql`lookup_hash`, hashes)} and ${isValid(now)}) k
          join users u on u.id = k.user_id and u.suspended_at is null
          limit 1`,
    ),

  /** The master keys that stream keys are sealed with. Every start asks: each is found by an index, not by reading all. */
  masterKeys: async (): Promise<string[]> => {
    const rows = await db.all<{ key_id: string }>(
      sql`with recursive used (key_id) as (
            select min(key_id) from stream_keys
            union all
            select (select min(key_id) from stream_keys k where k.key_id > used.key_id) from used
            where used.key_id is not null)
          select key_id from used where key_id is not null
          union select distinct key_id from extra_stream_keys order by key_id`,
    )
    return rows.map(row => row.key_id)
  },
})
