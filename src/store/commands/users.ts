import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/user.ts'
import { isChange } from '../../domain/audit.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { insertRows } from '../insert-rows.ts'
import { userColumns, userQueries } from '../queries/users.ts'
import { sql } from '../sql/tag.ts'
import { emitLastRevocations } from './authorization-events.ts'
import { emitUserUpdate } from './channel-events.ts'
import { dismissDeparted } from './disconnect-publisher.ts'
import { endSubscriptionsAbout } from './end-subscriptions.ts'
import { lockCountsAround } from './follows.ts'
import { deleteById } from './references.ts'
import { setPassword } from './sessions.ts'
import { endRunningStream, publishStreams } from './streams.ts'
import { endPresence } from './suspensions.ts'
import { loggable, userSubject } from './user-records.ts'

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

  if (before === undefined) {
    const [created] = await createUsers(tx, [{ ...args, login: args.login ?? login }])
    return assertDefined(created, 'the user that was created')
  }
  const user = changed(before, { ...args, login })
  const { password_hash } = args
  await userColumns.update(tx, user)
  if (password_hash !== undefined) await setPassword(tx, { user_id: user.id, password_hash })
  // An import may suspend a user.
  if (before.suspended_at === null && user.suspended_at !== null)
    await endPresence(tx, { user_id: user.id, now: args.now })
  if (login !== before.login) tx.publish({ kind: 'access', access: { user_id: user.id } })
  await publishStreams(tx, sql`s.user_id = ${user.id}`)
  const email = user.email === before.email ? {} : { email: 'changed' }
  const after = { ...recorded(user, password_hash), ...email }
  tx.record({ subject: userSubject(user), before: loggable(before), after })
  await emitUserUpdate(tx, before, user)
  return user
}

/** A user who does not exist yet, with what is stored beside the user. */
interface NewUser extends Changes<User> {
  readonly id: string
  readonly login: string
  readonly password_hash?: string | undefined
  readonly stream_key: StoredStreamKey
  readonly now: number
}

/** Creates users with channel and stream key. Their ids and logins are free. */
export async function createUsers(tx: Transaction, given: readonly NewUser[]): Promise<User[]> {
  const users = given.map(each => ({ ...each, user: newUser(each) }))
  await userColumns.insert(
    tx,
    users.map(({ user }) => user),
    (_user, index) => ({ password_hash: users[index]?.password_hash ?? null }),
  )
  await insertRows(
    tx,
    'insert into channels (user_id, title, game_id, language, tags, is_mature, vod_enabled)',
    users,
    ({ id }) => [id, '', null, 'en', '[]', 0, 1],
  )
  await insertRows(
    tx,
    'insert into stream_keys (user_id, version, key_id, sealed, lookup_hash)',
    users,
    ({ id, stream_key: { key_id, sealed, lookup_hash } }) => [id, 1, key_id, sealed, lookup_hash],
  )
  for (const { user, password_hash } of users)
    tx.record({ subject: userSubject(user), after: recorded(user, password_hash) })
  return users.map(({ user }) => user)
}

function newUser({ id, login, now, ...fields }: NewUser): User {
  const fresh: User = {
    id,
    login: login.toLowerCase(),
    display_name: login,
    description: '',
    links: [],
    broadcaster_type: '',
    email: null,
    created_at: isoMillis(now),
    suspended_at: null,
    suspension_reason: '',
  }
  return changed(fresh, fields)
}

/** Changes what users themselves may change. Undefined: there is no such user. */
export async function changeProfile(
  tx: Transaction,
  args: Changes<Pick<User, 'display_name' | 'description' | 'links'>> & { readonly id: string },
): Promise<User | undefined> {
  await tx.lock(sql`select id from users where id = ${args.id}`, 'users')
  const before = await userQueries(tx).find(args.id)
  if (before === undefined) return undefined
  const user = changed(before, args)
  const recording = { subject: userSubject(user), before: loggable(before), after: loggable(user) }
  if (!isChange(recording)) return before
  await userColumns.update(tx, user)
  if (user.display_name !== before.display_name) await publishStreams(tx, sql`s.user_id = ${user.id}`)
  tx.record(recording)
  await emitUserUpdate(tx, before, user)
  return user
}

/** The audit record of a user that is created or changed. */
const recorded = (user: User, password_hash: string | undefined) => ({
  ...loggable(user),
  ...(password_hash !== undefined && { password: 'changed' }),
})

/** Deletes a user and all data that belongs to the user alone. Ends a running stream, and lets none start meanwhile. */
export async function deleteUser(tx: Transaction, args: { id: string; now: number }) {
  await tx.lock(sql`select user_id from channels where user_id = ${args.id}`, 'channels')
  await endRunningStream(tx, { user_id: args.id, now: args.now })
  await dismissDeparted(tx, { user_id: args.id, now: args.now })
  await endSubscriptionsAbout(tx, args.id)
  await emitLastRevocations(tx, args.id)
  await lockCountsAround(tx, args.id)
  tx.publish({ kind: 'access', access: { user_id: args.id } })
  tx.publish({ kind: 'follows', user_ids: [args.id] })
  return deleteById(tx, 'user', args.id)
}
