import { controlOperation } from '../operation.ts'
import { listing } from '../page.ts'
import { DecimalId, GivenTime } from '../resources/id.ts'
import { listSchema } from '../resources/list.ts'
import { exampleUser, User } from '../resources/user.ts'
import { Type } from '../schema.ts'

const followed_at = Type.Optional(GivenTime)
const pair = { user_id: '25009227', broadcaster_id: '141981764' }

/** Follows. */
export const putFollow = controlOperation('PUT /control/users/{user_id}/follows/{broadcaster_id}', {
  id: 'PutFollow',
  summary: 'Make a user follow a channel.',
  description: 'Of an existing follow only the time changes, if one is given.',
  body: Type.Object({ followed_at }),
  problems: ['not_found', 'refused_reference'],
  example: { params: pair, body: { followed_at: '2026-02-14T18:00:05Z' } },
})

export const deleteFollow = controlOperation('DELETE /control/users/{user_id}/follows/{broadcaster_id}', {
  id: 'DeleteFollow',
  summary: 'Remove a follow.',
  problems: ['not_found'],
  example: { params: pair },
})

export const putFollows = controlOperation('POST /control/follows', {
  id: 'PutFollows',
  summary: 'Add up to 10,000 follows, all or none.',
  body: Type.Object({
    follows: listSchema(
      Type.Object({ user_id: DecimalId, broadcaster_id: DecimalId, followed_at }),
      1,
      10_000,
    ),
  }),
  problems: ['unknown_reference', 'refused_reference'],
  example: { body: { follows: [{ ...pair, followed_at: '2026-02-14T18:00:05Z' }] } },
})

export const listFollows = controlOperation('GET /control/users/{user_id}/follows', {
  id: 'ListFollows',
  summary: 'List the channels that a user follows.',
  ...listing(User),
  problems: ['not_found'],
  example: { params: { user_id: pair.user_id }, answer: { data: [exampleUser], pagination: {} } },
})
