import { getFollowedStreams } from '../../contract/helix/get-followed-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetFollowedStreams = implement(
  getFollowedStreams,
  async ({ query, caller, window, paginate }, rooms) => {
    const { user_id } = requireOwnId(caller, 'user_id', query.user_id)
    const seats = await rooms.followings.of(user_id)
    const page = await cutAlongWalk(rooms, window, () => rooms.directory.pageOfSeats(seats, window))
    return preparedPage(page.rows, paginate(page, streamKey, page.memory))
  },
)
