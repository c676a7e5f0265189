import { getChannelEditors } from '../../contract/helix/get-channel-editors.ts'
import { isRefusal } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleGetChannelEditors = implement(getChannelEditors, async ({ query, caller }, { store }) => {
  const own = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
  if (isRefusal(own)) return own
  const { user_id } = own
  return { data: await store.channels.newestEditors(user_id) }
})
