import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/world.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { fold } from '../../domain/fold.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import { userQueries } from '../queries/world.ts'
import { sql } from '../sql/tag.ts'
import { emitUserUpdate } from './channel-events.ts'
import { endSubscriptionsAbout } from './event-subscriptions.ts'
import { lockCountsAround } from './follows.ts'
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
  args: Changes<User> & {
    readonly id: string
    /** The id was just assigned: if it exists already, that is a conflict and not a change. */
    readonly isNew?: boolean | undefined
    readonly password_hash?: string | undefined
    /** Stored only for a new user, as version 1. */
    readonly stream_key: StoredStreamKey
    readonly now: number
  },
): Promise<User | Refusal<'taken' | 'reserved_login' | 'missing_parameter'>> {
  await tx.lock(sql`select id from users where id = ${args.id}`, 'users')
  const users = userQueries(tx)
  const before = args.isNew ? undefined : await users.find(args.id)
  const login = args.login?.toLowerCase() ?? before?.login
  if (login === undefined) return refuse('missing_parameter', 'login')
  if (login !== before?.login && isReservedName(login)) return refuse('reserved_login', login)
  const holder = await users.withLogin(login)
  if (holder !== undefined && holder.id !== args.id) return refuse('taken', 'login', args.login ?? login)

  const fresh: User = {
    id: args.id,
    login,
    display_name: args.login ?? login,
    description: '',
    broadcaster_type: '',
    email: null,
    created_at: isoMillis(args.now),
  }
  const user = changed(before ?? fresh, { ...args, login })
  const { password_hash } = args
  const after = { ...loggable(user), ...(password_hash !== undefined && { password: 'changed' }) }
  if (before === undefined) {
    await insertUser(tx, user, args)
    tx.record({ subject: userSubject(user), after })
    return user
  }
  await tx.run(
    sql`update users set login = ${login}, display_name = ${user.display_name},
          display_name_folded = ${fold(user.display_name)}, description = ${user.description},
          broadcaster_type = ${user.broadcaster_type}, email = ${user.email}, created_at = ${user.created_at}
        where id = ${user.id}`,
  )
  if (password_hash !== undefined) await setPassword(tx, { user_id: user.id, password_hash })
  if (login !== before.login) tx.publish({ kind: 'access', access: { user_id: user.id } })
  await publishStreams(tx, sql`s.user_id = ${user.id}`)
  const email = user.email === before.email ? {} : { email: 'changed' }
  tx.record({ subject: userSubject(user), before: loggable(before), after: { ...after, ...email } })
  await emitUserUpdate(tx, before, user)
  return user
}

async function insertUser(
  tx: Transaction,
  user: User,
  {
    stream_key,
    password_hash = null,
  }: { stream_key: StoredStreamKey; password_hash?: string | null | undefined },
): Promise<void> {
  await tx.run(
    sql`insert into users (id, login, display_name, display_name_folded, description, broadcaster_type, email,
          password_hash, created_at)
        values (${user.id}, ${user.login}, ${user.display_name}, ${fold(user.display_name)}, ${user.description},
          ${user.broadcaster_type}, ${user.email}, ${password_hash}, ${user.created_at})`,
  )
  await tx.run(
    sql`insert into channels (user_id, title, game_id, language, tags, is_mature, vod_enabled)
        values (${user.id}, '', null, 'en', '[]', 0, 1)`,
  )
  await tx.run(
    sql`insert into stream_keys (user_id, version, key_id, sealed, lookup_hash)
        values (${user.id}, 1, ${stream_key.key_id}, ${stream_key.sealed}, ${stream_key.lookup_hash})`,
  )
}

/** Sets the description of a user. Undefined: there is no such user. */
export async function describeUser(
  tx: Transaction,
  { id, description }: { id: string; description: string },
): Promise<User | undefined> {
  await tx.lock(sql`select id from users where id = ${id}`, 'users')
  const before = await userQueries(tx).find(id)
  if (before === undefined || before.description === description) return before
  const user: User = { ...before, description }
  await tx.run(sql`update users set description = ${description} where id = ${id}`)
  tx.record({ subject: userSubject(user), before: loggable(before), after: loggable(user) })
  await emitUserUpdate(tx, before, user)
  return user
}

const userSubject = ({ id }: { id: string }): string => `user/${id}`

/** The audit log outlives the user, so it never contains the address. */
const loggable = ({ email: _, ...user }: User) => user

/** Deletes a user and all data that belongs to the user alone. Ends a running stream, and lets none start meanwhile. */
export async function deleteUser(tx: Transaction, args: { id: string; now: number }) {
  await tx.lock(sql`select user_id from channels where user_id = ${args.id}`, 'channels')
  await takeOffAir(tx, { user_id: args.id, now: args.now })
  await endSubscriptionsAbout(tx, args.id)
  await lockCountsAround(tx, args.id)
  tx.publish({ kind: 'access', access: { user_id: args.id } })
  tx.publish({ kind: 'follows', user_ids: [args.id] })
  return deleteById(tx, 'user', args.id)
}
