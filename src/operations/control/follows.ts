import { deleteFollow, listFollows, putFollow, putFollows } from '../../contract/control/follows.ts'
import { refuse } from '../../contract/problem.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import { answerPage, implement } from '../implement.ts'
import { parsePastSecond } from '../timestamp.ts'

export const handlePutFollow = implement(putFollow, async ({ params, body }, { store, clock }) => {
  const now = clock.now()
  const follow = { ...params, followed_at: parsePastSecond('followed_at', body.followed_at, now) }
  const refused = await store.commands.putFollows({ follows: [follow], now })
  return refused && refuse('not_found', ...refused.details)
})

export const handleDeleteFollow = implement(deleteFollow, ({ params }, { store }) =>
  store.commands.deleteFollow(params),
)

export const handlePutFollows = implement(putFollows, ({ body }, { store, clock }) => {
  const now = clock.now()
  const follows = body.follows.map(({ followed_at, ...pair }) => ({
    ...pair,
    followed_at: parsePastSecond('followed_at', followed_at, now),
  }))
  return store.commands.putFollows({ follows, now })
})

export const handleListFollows = implement(listFollows, async ({ params, window, paginate }, { store }) => {
  const { user_id } = params
  if ((await store.users.find(user_id)) === undefined) return refuse('not_found', 'user', user_id)
  return answerPage(await store.channels.followed(user_id, window), idSortKey, paginate)
})
