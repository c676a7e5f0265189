import { getStreams } from '../../contract/helix/get-streams.ts'
import { streamSortKey } from '../../directory/stream-page.ts'
import { implement, preparedPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

/** The first page of a walk through all streams, or through games and languages, and nothing else. */
const FIRST_PAGE = /^(?:(?:first|game_id|language|type)=[A-Za-z0-9_-]*(?:&|$))*$/

/** Every stream is live, so `type` chooses nothing: `all` and `live` list the same. */
export const handleGetStreams = implement(
  getStreams,
  async ({ query, window, paginate }, services) => {
    const filter = {
      user_ids: query.user_id,
      user_logins: query.user_login,
      game_ids: query.game_id,
      languages: query.language?.map(language => language.toLowerCase()),
    }
    const page = await cutAlongWalk(services, window, () => services.directory.page(filter, window))
    return preparedPage(page.rows, paginate(page, streamSortKey, page.memory))
  },
  {
    versionOf: ({ directory }, search) => (FIRST_PAGE.test(search) ? directory.rankingVersion : undefined),
  },
)
