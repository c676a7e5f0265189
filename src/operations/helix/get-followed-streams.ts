import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement, preparedPage } from '../implement.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  async ({ query, caller, window, paginate }, { followings, directory }) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    const page = directory.pageOfUsers(await followings.of(user_id), window)
    return preparedPage(page.rows, paginate(page, streamKey, page.memory))
  },
)
