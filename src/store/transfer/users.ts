import { isRefusal } from '../../contract/problem.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import { rotateStreamKey } from '../commands/stream-keys.ts'
import { createUsers, putUser } from '../commands/users.ts'
import type { Transaction } from '../database.ts'
import { userColumns } from '../queries/users.ts'
import { sql, valuesTable } from '../sql/tag.ts'
import {
  asGiven,
  type Check,
  type CommandLines,
  hasValues,
  type ImportLine,
  idClaim,
  type StoredLine,
} from './line-type.ts'
import { storedRows } from './stored-rows.ts'

const rows = storedRows('user', {
  table: 'users',
  select: sql`select ${userColumns.list}, password_hash,
      (select version from stream_keys k where k.user_id = users.id order by version desc limit 1) as slot,
      (select key_id from stream_keys k where k.user_id = users.id order by version desc limit 1) as key_id,
      (select sealed from stream_keys k where k.user_id = users.id order by version desc limit 1) as sealed
    from users`,
})

/** Refuses a login that is reserved, or that another user has, unless an earlier line renames that user. */
const loginsAreFree: Check<'user'> = async (db, lines, earlier) => {
  const given = valuesTable(
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
}

export const user: CommandLines<'user'> = {
  ...rows,
  writes: 'commands',
  checks: [loginsAreFree],
  claims: line => [
    idClaim('user', line.id),
    {
      what: ['login', line.login],
      why: () => `the login "${line.login}" is given to another user in this file`,
    },
  ],
  isCurrent: (row, line) => line.next_key === undefined && hasValues(row, line),
  asStored: asGiven,
  /** New users come after the changes: one may have a login that another user gave up. */
  put: async (tx, changes, now) => {
    const results: unknown[] = []
    for (const { line, row } of changes)
      results.push(row === undefined ? undefined : await changeUser(tx, line, row, now))
    const created = changes.filter(({ row }) => row === undefined)
    await createUsers(
      tx,
      created.map(({ line: { first_key: stream_key, ...line } }) => ({ ...line, stream_key, now })),
    )
    return results
  },
}

async function changeUser(
  tx: Transaction,
  line: ImportLine<'user'>,
  row: StoredLine<'user'>,
  now: number,
): Promise<unknown> {
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
}
