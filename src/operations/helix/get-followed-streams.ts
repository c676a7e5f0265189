import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { streamSortKey } from '../../directory/stream-page.ts'
import { requireOwnId } from '../../domain/access.ts'
import { chain } from '../../kit/maybe-promise.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  ({ query, caller, window, paginate }, services) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    return chain(services.followings.of(user_id), channels =>
      chain(
        cutAlongWalk(services, window, () => services.directory.pageOfChannels(channels, window)),
        page => preparedPage(page.rows, paginate(page, streamSortKey, page.memory)),
      ),
    )
  },
)
