import { deleteFollow, listFollows, putFollow, putFollows } from '../../contract/control/follows.ts'
import { raise } from '../../contract/problem.ts'
import { idSortKey } from '../../store/queries/world.ts'
import { implement } from '../implement.ts'

export const handlePutFollow = implement(putFollow, async ({ params }, { store }) => {
  const result = await store.commands.putFollows({ follows: [params] })
  return result.outcome === 'done' ? undefined : raise('not_found', result.kind, result.id)
})

export const handleDeleteFollow = implement(deleteFollow, async ({ params }, { store }) => {
  const gone = await store.commands.deleteFollow(params)
  return gone ? undefined : raise('not_found', 'followed channel', params.broadcaster_id)
})

export const handlePutFollows = implement(putFollows, async ({ body }, { store }) => {
  const result = await store.commands.putFollows(body)
  return result.outcome === 'done' ? undefined : raise('unknown_reference', result.kind, result.id)
})

export const handleListFollows = implement(listFollows, async ({ params, window, paginate }, { store }) => {
  const { user_id } = params
  if ((await store.users.find(user_id)) === undefined) return raise('not_found', 'user', user_id)
  const page = await store.channels.followed(user_id, window)
  return { data: [...page.rows], pagination: paginate(page, idSortKey) }
})
