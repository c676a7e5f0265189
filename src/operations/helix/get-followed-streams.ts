import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { requireOwnId } from '../../domain/access.ts'
import { andThen } from '../../kit/eventual.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  ({ query, caller, window, paginate }, rooms) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    return andThen(rooms.followings.of(user_id), seats =>
      andThen(
        cutAlongWalk(rooms, window, () => rooms.directory.pageOfSeats(seats, window)),
        page => preparedPage(page.rows, paginate(page, streamKey, page.memory)),
      ),
    )
  },
)
