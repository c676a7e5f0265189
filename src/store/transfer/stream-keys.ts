import { refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { MAX_EXTRA_KEYS, writeExtraKey } from '../commands/stream-keys.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { hasValues, type ImportLine, type StoredLine, type TransferResource } from './resource.ts'

/** Without a key in its line, a key keeps its value, and a new one gets a random value. */
const hasKey = (row: StoredLine<'stream_key'>, { lookup_hashes }: ImportLine<'stream_key'>): boolean =>
  lookup_hashes === undefined || lookup_hashes.includes(row.lookup_hash)

export const streamKey: TransferResource<'stream_key'> = {
  table: 'extra_stream_keys',
  key: ['user_id', 'name'],
  select: sql`select user_id, name, created_at, valid_until, name as slot, key_id, sealed, lookup_hash
    from extra_stream_keys`,
  /** Refuses more keys than a channel may have. */
  conflicts: async (db, lines) => {
    const users = [...new Set(lines.map(line => line.user_id))]
    const rows = await db.all<{ user_id: string; name: string }>(
      sql`select user_id, name from extra_stream_keys where ${isOneOf(sql`user_id`, users)}`,
    )
    const names = new Map(users.map(user_id => [user_id, new Set<string>()]))
    for (const { user_id, name } of rows) names.get(user_id)?.add(name)
    return ({ user_id, name }) => {
      const known = names.get(user_id)
      known?.add(name)
      if (known === undefined || known.size <= MAX_EXTRA_KEYS) return undefined
      known.delete(name)
      return `the channel "${user_id}" has ${MAX_EXTRA_KEYS} extra stream keys, and may not have more`
    }
  },
  claims: ({ stream_key }) =>
    stream_key === undefined
      ? []
      : [{ what: ['key', stream_key], why: () => 'its stream key is in this file already' }],
  isCurrent: (row, line) => hasKey(row, line) && hasValues('stream_key', row, line),
  putEach: async (tx, { line, row }, now) => {
    const { user_id, name } = line
    const { key_id, sealed, lookup_hash } = row !== undefined && hasKey(row, line) ? row : line.stored
    const other = await tx.get(
      sql`select name from extra_stream_keys
          where lookup_hash = ${lookup_hash} and not (user_id = ${user_id} and name = ${name})`,
    )
    if (other !== undefined) return refuse('taken', 'stream key', name)
    const created_at = line.created_at ?? row?.created_at ?? isoMillis(now)
    const valid_until = (line.valid_until === undefined ? row?.valid_until : line.valid_until) ?? null
    await writeExtraKey(tx, { user_id, name, key_id, sealed, lookup_hash, created_at, valid_until })
    return undefined
  },
}
