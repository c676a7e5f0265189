import { getStreams } from '../../contract/helix/get-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

/** Every stream is live, so `type` chooses nothing: `all` and `live` list the same. */
export const handleGetStreams = implement(
  getStreams,
  async ({ query, window, paginate }, rooms) => {
    const filter = {
      user_ids: query.user_id,
      user_logins: query.user_login,
      game_ids: query.game_id,
      languages: query.language?.map(language => language.toLowerCase()),
    }
    const page = await cutAlongWalk(rooms, window, () => rooms.directory.page(filter, window))
    return preparedPage(page.rows, paginate(page, streamKey, page.memory))
  },
  { versionOf: ({ directory }) => directory.version },
)
