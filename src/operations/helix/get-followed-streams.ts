import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  async ({ query, caller, window, paginate }, { store, directory }) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    const page = directory.pageOfUsers(await store.follows.of(user_id), window)
    return { data: [...page.rows], pagination: paginate(page, streamKey, page.memory) }
  },
)
