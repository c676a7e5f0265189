import { getFollowedChannels } from '../../contract/helix/get-followed-channels.ts'
import { isRefusal } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { followedSortKey } from '../../store/queries/follows.ts'
import { answerPage, implement } from '../implement.ts'

export const handleGetFollowedChannels = implement(
  getFollowedChannels,
  async ({ query, caller, window, paginate }, { store }) => {
    const own = requireOwnId(caller, 'user_id', query.user_id)
    if (isRefusal(own)) return own
    const { user_id } = own
    const total = await store.follows.countFollowed(user_id)
    const page = await store.follows.followed(query, window)
    return { total, ...answerPage(page, followedSortKey, paginate) }
  },
)
