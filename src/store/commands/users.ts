import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/world.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import { userQueries } from '../queries/world.ts'
import { sql } from '../sql/tag.ts'
import { deleteById } from './references.ts'
import { setPassword } from './sessions.ts'
import { publishStreams, takeOffAir } from './streams.ts'

/** A stream key to be stored: sealed for reading it back, hashed for lookup at ingest. */
export interface StoredStreamKey {
  readonly key_id: string
  readonly sealed: string
  readonly lookup_hash: string
}

/** Creates a user with channel and stream key, or changes the user with this id. */
export async function putUser(
  tx: Transaction,
  args: {
    id: string
    /** The id was just assigned: if it exists already, that is a conflict and not a change. */
    isNew?: boolean | undefined
    login?: string | undefined
    display_name?: string | undefined
    password_hash?: string | undefined
    created_at?: string | undefined
    /** Stored only for a new user, as version 1. */
    stream_key: StoredStreamKey
    now: number
  },
): Promise<User | Refusal<'taken' | 'missing_parameter'>> {
  await tx.lock(sql`select id from users where id = ${args.id}`, 'users')
  const users = userQueries(tx)
  const before = args.isNew ? undefined : await users.find(args.id)
  const login = args.login?.toLowerCase() ?? before?.login
  if (login === undefined) return refuse('missing_parameter', 'login')
  const holder = await users.withLogin(login)
  if (holder !== undefined && holder.id !== args.id) return refuse('taken', 'login', args.login ?? login)

  if (before === undefined) {
    const user = {
      id: args.id,
      login,
      display_name: args.display_name ?? args.login ?? login,
      created_at: args.created_at ?? isoMillis(args.now),
    }
    await tx.run(
      sql`insert into users (id, login, display_name, password_hash, created_at)
          values (${user.id}, ${user.login}, ${user.display_name}, ${args.password_hash ?? null}, ${user.created_at})`,
    )
    await tx.run(
      sql`insert into channels (user_id, title, game_id, language, tags, is_mature, vod_enabled)
          values (${user.id}, '', null, 'en', '[]', 0, 1)`,
    )
    await tx.run(
      sql`insert into stream_keys (user_id, version, key_id, sealed, lookup_hash)
          values (${user.id}, 1, ${args.stream_key.key_id}, ${args.stream_key.sealed}, ${args.stream_key.lookup_hash})`,
    )
    tx.record({ subject: `user/${user.id}`, after: { ...user, ...passwordOf(args) } })
    return user
  }

  const user = {
    ...before,
    login,
    display_name: args.display_name ?? before.display_name,
    created_at: args.created_at ?? before.created_at,
  }
  await tx.run(
    sql`update users set login = ${login}, display_name = ${user.display_name}, created_at = ${user.created_at}
        where id = ${user.id}`,
  )
  if (args.password_hash !== undefined) {
    await setPassword(tx, { user_id: user.id, password_hash: args.password_hash })
  }
  if (login !== before.login) tx.publish({ kind: 'access', access: { user_id: user.id } })
  await publishStreams(tx, sql`s.user_id = ${user.id}`)
  tx.record({ subject: `user/${user.id}`, before, after: { ...user, ...passwordOf(args) } })
  return user
}

/** What the audit log records about a password. */
const passwordOf = (args: { password_hash?: string | undefined }) =>
  args.password_hash === undefined ? {} : { password: 'changed' }

/** Deletes a user and all data that belongs to the user alone. Ends a running stream, and lets none start meanwhile. */
export async function deleteUser(tx: Transaction, args: { id: string; now: number }) {
  await tx.lock(sql`select user_id from channels where user_id = ${args.id}`, 'channels')
  await takeOffAir(tx, { user_id: args.id, now: args.now })
  tx.publish({ kind: 'access', access: { user_id: args.id } })
  tx.publish({ kind: 'follows', user_ids: [args.id] })
  return deleteById(tx, 'user', args.id)
}
