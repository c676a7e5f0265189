import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { DecimalId, GivenTime } from '../resources/id.ts'
import { exampleUser, LOGIN_PATTERN, User, userSettings } from '../resources/user.ts'
import { Type } from '../schema.ts'

const Login = Type.String({ pattern: LOGIN_PATTERN, hint: '1 to 25 letters, digits or underscores' })
const optional = {
  ...userSettings,
  password: Type.Optional(Type.String({ minLength: 8, maxLength: 200 })),
  created_at: Type.Optional(GivenTime),
}
const path = { user_id: exampleUser.id }
const one = { data: [exampleUser] }
const { id: _id, created_at: _created, ...input } = exampleUser

/** Users. Each is created with a channel and a stream key. */
export const createUser = controlOperation('POST /control/users', {
  id: 'CreateUser',
  summary: 'Create a user with a new id.',
  body: Type.Object({ login: Login, ...optional }),
  returns: singleSchema(User),
  problems: ['taken', 'reserved_login', 'refused_reference', 'passwords_busy'],
  example: { body: input, answer: one },
})

export const putUser = controlOperation('PUT /control/users/{user_id}', {
  id: 'PutUser',
  summary: 'Create or update the user with this id.',
  description: 'The login is required for a new user. Omitted fields keep their value.',
  params: Type.Object({ user_id: DecimalId }),
  body: Type.Object({ login: Type.Optional(Login), ...optional }),
  returns: singleSchema(User),
  problems: ['taken', 'reserved_login', 'missing_parameter', 'refused_reference', 'passwords_busy'],
  example: { params: path, body: input, answer: one },
})

export const getUser = controlOperation('GET /control/users/{user_id}', {
  id: 'GetUser',
  summary: 'Get a user.',
  returns: singleSchema(User),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listUsers = controlOperation('GET /control/users', {
  id: 'ListUsers',
  summary: 'List users, ordered by id, or find one by login.',
  query: Type.Object({ login: Type.Optional(Type.String()) }),
  ...listing(User),
  example: { query: { login: exampleUser.login }, answer: { ...one, pagination: {} } },
})

export const deleteUser = controlOperation('DELETE /control/users/{user_id}', {
  id: 'DeleteUser',
  summary:
    'Delete a user with channel, stream, videos, follows and tokens; entitlements are kept for their organizations.',
  problems: ['not_found'],
  example: { params: path },
})
