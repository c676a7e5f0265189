import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { isRefusal } from '../../contract/problem.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement, rawJsonPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  async ({ query, caller, window, paginate }, { followings, directory, history }) => {
    const own = requireOwnId(caller, 'user_id', query.user_id)
    if (isRefusal(own)) return own
    const { user_id } = own
    const channels = followings.known(user_id) ?? (await followings.of(user_id))
    const page = await cutAlongWalk({ directory, history }, window, 'shown', () =>
      directory.pageOfChannels(channels, window),
    )
    return rawJsonPage(page.rows, paginate(page, rankKey, page.cursorState))
  },
  { isFromMemory: true },
)
