import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { isRefusal } from '../../contract/problem.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { requireOwnId } from '../../domain/access.ts'
import { chain } from '../../kit/maybe-promise.ts'
import { implement, rawJsonPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  ({ query, caller, window, paginate }, { followings, directory, history }) => {
    const own = requireOwnId(caller, 'user_id', query.user_id)
    if (isRefusal(own)) return own
    const { user_id } = own
    const page = chain(followings.of(user_id), channels =>
      cutAlongWalk({ directory, history }, window, 'shown', () => directory.pageOfChannels(channels, window)),
    )
    return chain(page, found => rawJsonPage(found.rows, paginate(found, rankKey, found.cursorState)))
  },
  { isFromMemory: true },
)
