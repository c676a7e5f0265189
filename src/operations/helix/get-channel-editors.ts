import { getChannelEditors } from '../../contract/helix/get-channel-editors.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleGetChannelEditors = implement(getChannelEditors, async ({ query, caller }, { store }) => {
  const { user_id } = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
  return { data: await store.channels.newestEditors(user_id) }
})
