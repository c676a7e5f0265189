import { getUsers } from '../../contract/helix/get-users.ts'
import { refuse } from '../../contract/problem.ts'
import { LOGIN_PATTERN } from '../../contract/resources/user.ts'
import type { ShownUser } from '../../store/queries/users.ts'
import { implement } from '../implement.ts'
import { lookUp } from '../look-up.ts'
import { renderProfile } from '../render-profile.ts'

const LOGIN = new RegExp(LOGIN_PATTERN)

export const handleGetUsers = implement(getUsers, async ({ query, caller }, { store, publicUrl }) => {
  const { id, login } = query
  const isGiven = id !== undefined || login !== undefined
  // Only empty ones are an empty list.
  if (isGiven && !id?.length && !login?.length) return refuse('bad_identifiers')
  if (!isGiven && caller.kind !== 'user') return refuse('no_identifier')
  const ids = !isGiven && caller.kind === 'user' ? [caller.user_id] : id
  const users = await lookUp<ShownUser>(
    { values: ids, find: store.users.shownWithIds, valueIn: user => user.id },
    { values: login && loginsIn(login), find: store.users.shownWithLogins, valueIn: user => user.login },
  )
  return { data: users.map(user => renderProfile(user, caller, publicUrl)) }
})

/** Lower case. Only what has the form of a login: some letters beyond ASCII become ASCII in lower case. */
const loginsIn = (values: readonly string[]): string[] =>
  values.filter(value => LOGIN.test(value)).map(value => value.toLowerCase())
