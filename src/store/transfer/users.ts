import { isRefusal } from '../../contract/problem.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import { must } from '../../kit/must.ts'
import { rotateStreamKey } from '../commands/stream-keys.ts'
import { createUsers, putUser } from '../commands/users.ts'
import { userColumns } from '../queries/users.ts'
import { sql, tableOf } from '../sql/tag.ts'
import { claimOf, defineResource, hasValues } from './resource.ts'

export const user = defineResource('user', {
  table: 'users',
  select: sql`select ${userColumns.list}, password_hash,
      (select version from stream_keys k where k.user_id = users.id order by version desc limit 1) as slot,
      (select key_id from stream_keys k where k.user_id = users.id order by version desc limit 1) as key_id,
      (select sealed from stream_keys k where k.user_id = users.id order by version desc limit 1) as sealed
    from users`,
  /** Refuses a login that is reserved, or that another user has, unless an earlier line renames that user. */
  conflicts: async (db, lines, earlier) => {
    const given = tableOf(
      lines.map(({ login }) => ({ login })),
      ['login'],
    )
    // A join: with a plan from when there were few users, PostgreSQL would search a list of values for every user.
    const rows = await db.all<{ id: string; login: string }>(
      sql`select id, login from users where login in (select login from ${given} as given)`,
    )
    const holders = new Map(rows.map(row => [row.login, row.id]))
    const renamed = new Set<string>()
    return (line, row) => {
      if (line.login !== row?.login && isReservedName(line.login))
        return `the login "${line.login}" is reserved: the server uses this path`
      const holder = holders.get(line.login)
      const isFree = holder === undefined || holder === line.id || renamed.has(holder)
      if (!isFree && !earlier?.has('user', holder))
        return `the login "${line.login}" is taken by the user "${holder}"`
      renamed.add(line.id)
      return undefined
    }
  },
  claims: line => [
    claimOf('user', line.id),
    {
      what: ['login', line.login],
      why: () => `the login "${line.login}" is given to another user in this file`,
    },
  ],
  isCurrent: (row, line) => line.next_key === undefined && hasValues(row, line),
  createAll: (tx, lines, now) =>
    createUsers(
      tx,
      lines.map(({ first_key: stream_key, ...line }) => ({ ...line, stream_key, now })),
    ),
  putEach: async (tx, { line, row: known }, now) => {
    const row = must(known, 'the row of a user that is changed')
    const { first_key, next_key, password_hash, ...fields } = line
    if (!hasValues(row, line)) {
      // Setting a password ends the user's sessions, even if it is the same password.
      const isNewPassword = password_hash !== undefined && password_hash !== row.password_hash
      const passwordOrNone = isNewPassword ? { password_hash } : {}
      const result = await putUser(tx, { ...fields, ...passwordOrNone, stream_key: first_key, now })
      if (isRefusal(result)) return result
    }
    if (next_key === undefined) return undefined
    const { version, stored: stream_key, lookup_hashes } = next_key
    const valid_until = new Date(now).toISOString()
    return rotateStreamKey(tx, { user_id: line.id, version, stream_key, valid_until, lookup_hashes })
  },
})
