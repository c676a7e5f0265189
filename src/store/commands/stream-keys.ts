import { type Refusal, refuse } from '../../contract/problem.ts'
import type { ExtraStreamKey } from '../../contract/resources/stream.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isValid } from '../queries/stream-keys.ts'
import { isOneOf, lockRows, sql } from '../sql/tag.ts'
import type { StoredStreamKey } from './users.ts'

/** Extra keys per channel. */
export const MAX_EXTRA_KEYS = 20

/** Earlier keys of a channel that can be valid at a time. */
export const MAX_OLD_KEYS = 20

/**
 * Adds a new stream key; the current one stays valid until `valid_until`, and no earlier one longer. Of more earlier ones than
 * `MAX_OLD_KEYS` the oldest are removed. A key that the channel had before is given with the hashes under which it may still be
 * stored. `taken`: read the version again and retry.
 */
export async function rotateStreamKey(
  tx: Transaction,
  args: {
    user_id: string
    version: number
    stream_key: StoredStreamKey
    valid_until: string
    lookup_hashes?: readonly string[]
  },
): Promise<Refusal<'not_found' | 'taken'> | undefined> {
  const current = await tx.get<{ version: number }>(
    sql`select version from stream_keys where user_id = ${args.user_id} order by version desc limit 1${lockRows}`,
  )
  if (current === undefined) return refuse('not_found', 'channel', args.user_id)
  if (current.version !== args.version - 1) return refuse('taken', 'version', String(args.version))
  await tx.run(
    sql`update stream_keys set valid_until = ${args.valid_until}
        where user_id = ${args.user_id} and (valid_until is null or valid_until > ${args.valid_until})`,
  )
  if (args.lookup_hashes !== undefined)
    await tx.run(
      sql`delete from stream_keys
          where user_id = ${args.user_id} and ${isOneOf(sql`lookup_hash`, args.lookup_hashes)}`,
    )
  await tx.run(
    sql`insert into stream_keys (user_id, version, key_id, sealed, lookup_hash)
        values (${args.user_id}, ${args.version}, ${args.stream_key.key_id}, ${args.stream_key.sealed},
          ${args.stream_key.lookup_hash})`,
  )
  await tx.run(
    sql`delete from stream_keys
        where user_id = ${args.user_id} and version < ${args.version - MAX_OLD_KEYS}`,
  )
  tx.record({
    subject: `channel/${args.user_id}/stream-key`,
    before: { version: current.version },
    after: { version: args.version, stream_key: 'changed', old_key_valid_until: args.valid_until },
  })
  return undefined
}

/** Adds an extra key to a channel. An expired key of the same name is replaced. */
export async function createStreamKey(
  tx: Transaction,
  args: {
    user_id: string
    name: string
    stream_key: StoredStreamKey
    valid_until: string | null
    now: number
  },
): Promise<ExtraStreamKey | Refusal<'not_found' | 'taken' | 'too_many_stream_keys'>> {
  const { user_id, name, valid_until } = args
  const now = isoMillis(args.now)
  const channel = await tx.get(sql`select user_id from channels where user_id = ${user_id}${lockRows}`)
  if (channel === undefined) return refuse('not_found', 'channel', user_id)
  const valid = await tx.all<{ name: string }>(
    sql`select name from extra_stream_keys where user_id = ${user_id} and ${isValid(now)}`,
  )
  if (valid.some(key => key.name === name)) return refuse('taken', 'name', name)
  if (valid.length >= MAX_EXTRA_KEYS) return refuse('too_many_stream_keys', MAX_EXTRA_KEYS)
  await writeExtraKey(tx, { ...args.stream_key, user_id, name, created_at: now, valid_until })
  const created = { name, created_at: now, valid_until }
  tx.record({ subject: extraKeySubject(args), after: { user_id, ...created } })
  return created
}

/** Deletes an extra key: it opens no more broadcasts. A running one is not interrupted. */
export async function deleteStreamKey(tx: Transaction, args: { user_id: string; name: string }) {
  const { user_id, name } = args
  const before = await tx.get<{ created_at: string; valid_until: string | null }>(
    sql`delete from extra_stream_keys where user_id = ${user_id} and name = ${name}
        returning created_at, valid_until`,
  )
  if (before === undefined) return refuse('name_not_found', 'stream key', name)
  tx.record({ subject: extraKeySubject(args), before: { user_id, name, ...before } })
  return undefined
}

const extraKeySubject = ({ user_id, name }: { user_id: string; name: string }): string =>
  `channel/${user_id}/stream-key/${name}`

/** Writes an extra key as given: used where the rules of `createStreamKey` were checked or do not apply. */
export async function writeExtraKey(
  tx: Transaction,
  key: StoredStreamKey & {
    readonly user_id: string
    readonly name: string
    readonly created_at: string
    readonly valid_until: string | null
  },
): Promise<void> {
  await tx.run(
    sql`insert into extra_stream_keys (user_id, name, key_id, sealed, lookup_hash, created_at, valid_until)
        values (${key.user_id}, ${key.name}, ${key.key_id}, ${key.sealed}, ${key.lookup_hash}, ${key.created_at},
          ${key.valid_until})
        on conflict (user_id, name) do update set key_id = excluded.key_id, sealed = excluded.sealed,
          lookup_hash = excluded.lookup_hash, created_at = excluded.created_at, valid_until = excluded.valid_until`,
  )
}
