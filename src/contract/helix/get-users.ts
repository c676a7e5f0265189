import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { MAX_LOOK_UP, rowsSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleProfile, Profile } from '../resources/profile.ts'
import { Type } from '../schema.ts'

/** An empty value names no user: a client that looks up an empty name must not get the account of its token (D-70). */
const values = { maxItems: MAX_LOOK_UP, emptyIsValue: true }

/** Decisions D-61 to D-63, D-70 to D-72. */
export const getUsers = defineOperation('GET /helix/users', {
  id: 'GetUsers',
  summary: 'Get users by id and login, or the user of the token.',
  description:
    'Users are in the order of the request, first by id, then by login, each once; unknown users are absent. At most 100 ids and logins together.',
  access: anyToken,
  query: Type.Object({
    id: Type.Optional(Type.Array(IdFilter, values)),
    login: Type.Optional(Type.Array(Type.String({ description: 'Case-insensitive.' }), values)),
  }),
  lookUpBy: ['id', 'login'],
  returns: rowsSchema(Profile),
  problems: ['no_identifier', 'bad_identifiers'],
  example: {
    query: { login: ['lunar_otter'] },
    answer: { data: [exampleProfile] },
  },
})
