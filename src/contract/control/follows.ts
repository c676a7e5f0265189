import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { DecimalId } from '../resources/id.ts'
import { listOf } from '../resources/list.ts'
import { exampleUser, User } from '../resources/world.ts'
import { Type } from '../schema.ts'

const Pair = Type.Object({ user_id: Type.String(), broadcaster_id: Type.String() })
const pair = { user_id: '25009227', broadcaster_id: '141981764' }

/** Who follows whom. */
export const putFollow = defineOperation({
  id: 'PutFollow',
  summary: 'Lets a user follow a channel.',
  method: 'PUT',
  path: '/control/users/{user_id}/follows/{broadcaster_id}',
  access: operator,
  params: Pair,
  status: 204,
  problems: ['not_found'],
  example: { params: pair },
})

export const deleteFollow = defineOperation({
  id: 'DeleteFollow',
  summary: 'Ends a follow.',
  method: 'DELETE',
  path: '/control/users/{user_id}/follows/{broadcaster_id}',
  access: operator,
  params: Pair,
  status: 204,
  problems: ['not_found'],
  example: { params: pair },
})

export const putFollows = defineOperation({
  id: 'PutFollows',
  summary: 'Adds up to 10,000 follows, all or none.',
  method: 'POST',
  path: '/control/follows',
  access: operator,
  body: Type.Object({
    follows: listOf(Type.Object({ user_id: DecimalId, broadcaster_id: DecimalId }), 1, 10_000),
  }),
  status: 204,
  problems: ['unknown_reference'],
  example: { body: { follows: [pair] } },
})

export const listFollows = defineOperation({
  id: 'ListFollows',
  summary: 'Lists the channels that a user follows.',
  method: 'GET',
  path: '/control/users/{user_id}/follows',
  access: operator,
  params: Type.Object({ user_id: Type.String() }),
  page: { standard: 20, before: false },
  returns: pageOf(User),
  problems: ['not_found'],
  example: { params: { user_id: pair.user_id }, answer: { data: [exampleUser], pagination: {} } },
})
