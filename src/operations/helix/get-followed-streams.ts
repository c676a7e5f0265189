import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  async ({ query, caller, window, paginate }, { followings, directory, history }) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    const channels = await followings.of(user_id)
    const page = await cutAlongWalk({ directory, history }, window, () =>
      directory.pageOfChannels(channels, window),
    )
    return preparedPage(page.rows, paginate(page, rankKey, page.memory))
  },
)
