import { controlOperation } from '../operation.ts'
import { listing, rowsSchema, singleSchema } from '../page.ts'
import { DecimalId, GivenTime } from '../resources/id.ts'
import { examplePersonalLines, PersonalLine } from '../resources/personal-data.ts'
import {
  DeletedRows,
  exampleDeletedRows,
  exampleUser,
  LOGIN_PATTERN,
  PasswordReset,
  SuspensionReason,
  User,
  userSettings,
} from '../resources/user.ts'
import { Type } from '../schema.ts'

const Login = Type.String({ pattern: LOGIN_PATTERN, hint: '1 to 25 letters, digits or underscores' })
const optional = {
  ...userSettings,
  password: Type.Optional(Type.String({ minLength: 8, maxLength: 200 })),
  created_at: Type.Optional(GivenTime),
}
const path = { user_id: exampleUser.id }
const one = { data: [exampleUser] }
const {
  id: _id,
  created_at: _created,
  suspended_at: _suspended,
  suspension_reason: _reason,
  ...input
} = exampleUser
const suspended: User = {
  ...exampleUser,
  suspended_at: '2026-03-01T12:00:00.250Z',
  suspension_reason: 'Sells accounts.',
}

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

export const suspendUser = controlOperation('PUT /control/users/{user_id}/suspension', {
  id: 'SuspendUser',
  summary:
    'Suspend a user: end the stream, all sessions and all tokens, and hide the channel and its videos.',
  description:
    'Nothing is deleted, and entitlements stay as they are. Until the suspension ends, the user cannot log in, broadcast, or earn and claim drops. For a user who is suspended already, only the reason changes.',
  body: Type.Object({ reason: Type.Optional(SuspensionReason) }),
  returns: singleSchema(User),
  problems: ['not_found'],
  example: { params: path, body: { reason: suspended.suspension_reason }, answer: { data: [suspended] } },
})

export const unsuspendUser = controlOperation('DELETE /control/users/{user_id}/suspension', {
  id: 'UnsuspendUser',
  summary: 'End the suspension of a user. The stream, sessions and tokens that it ended do not return.',
  problems: ['not_found', 'not_suspended'],
  example: { params: path },
})

export const createPasswordReset = controlOperation('POST /control/users/{user_id}/password-reset', {
  id: 'CreatePasswordReset',
  summary: 'Make a link with which the user can set a new password, once and within 24 hours.',
  description: 'An earlier link ends, and every link when the password is changed in another way.',
  returns: singleSchema(PasswordReset),
  problems: ['not_found', 'user_suspended'],
  example: {
    params: path,
    answer: {
      data: [
        {
          reset_url: 'https://strand.example.org/account/new-password?reset=<RESET_SECRET>',
          expires_at: '2026-03-02T12:00:00.250Z',
        },
      ],
    },
  },
})

export const exportUser = controlOperation('POST /control/users/{user_id}/export', {
  id: 'ExportUser',
  summary: 'Export everything that is stored about a user as JSON lines, with a list of media files.',
  description:
    'The rows are one consistent snapshot of the store. Secrets are replaced by `withheld`. The last line is the summary. The audit log records the export. See docs/privacy.md.',
  answerLines: PersonalLine,
  problems: ['not_found', 'no_room'],
  example: { params: path, answer: examplePersonalLines },
})

export const deleteUser = controlOperation('DELETE /control/users/{user_id}', {
  id: 'DeleteUser',
  summary:
    'Delete a user with channel, stream, videos, follows and tokens; entitlements are kept for their organizations.',
  description:
    'The answer reports how many rows of each table were removed, and what is kept, why and how long. See docs/privacy.md.',
  returns: rowsSchema(DeletedRows),
  takesLong: true,
  problems: ['not_found'],
  example: { params: path, answer: { data: exampleDeletedRows } },
})
