import { getStreams } from '../../contract/helix/get-streams.ts'
import { streamKey } from '../../directory/directory.ts'
import { implement, preparedPage } from '../implement.ts'

/** Every stream is live, so `type` chooses nothing: `all` and `live` list the same. */
export const handleGetStreams = implement(
  getStreams,
  async ({ query, window, paginate }, { directory }) => {
    const page = directory.page(
      {
        user_ids: query.user_id,
        user_logins: query.user_login,
        game_ids: query.game_id,
        languages: query.language?.map(language => language.toLowerCase()),
      },
      window,
    )
    return preparedPage(page.rows, paginate(page, streamKey, page.memory))
  },
  { versionOf: ({ directory }) => directory.version },
)
