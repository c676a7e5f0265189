import { getUsers } from '../../contract/helix/get-users.ts'
import { raise } from '../../contract/problem.ts'
import { LOGIN_PATTERN, type User } from '../../contract/resources/user.ts'
import type { Caller } from '../../domain/caller.ts'
import { chain } from '../../kit/maybe-promise.ts'
import { implement } from '../implement.ts'
import { lookUp } from '../look-up.ts'
import { renderProfile } from '../render-profile.ts'

const LOGIN = new RegExp(LOGIN_PATTERN)

export const handleGetUsers = implement(getUsers, ({ query, caller }, { store, publicUrl }) => {
  const { id, login } = query
  const isGiven = id !== undefined || login !== undefined
  // Only empty ones are an empty list.
  if (isGiven && !id?.length && !login?.length) raise('bad_identifiers')
  const found = lookUp<User>(
    { values: isGiven ? id : [ownId(caller)], find: store.users.withIds, valueIn: user => user.id },
    { values: login && loginsIn(login), find: store.users.withLogins, valueIn: user => user.login },
  )
  return chain(found, users => ({ data: users.map(user => renderProfile(user, caller, publicUrl)) }))
})

/** Lower case. Only what has the form of a login: some letters beyond ASCII become ASCII in lower case. */
const loginsIn = (values: readonly string[]): string[] =>
  values.filter(value => LOGIN.test(value)).map(value => value.toLowerCase())

const ownId = (caller: Caller): string => (caller.kind === 'user' ? caller.user_id : raise('no_identifier'))
