import { getStreams } from '../../contract/helix/get-streams.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { implement, rawJsonPage } from '../implement.ts'
import { cutAlongWalk } from '../walk.ts'

/** The first page of a list of all streams, or one filtered only by game and language. */
const FIRST_PAGE = /^(?:(?:first|game_id|language|type)=[A-Za-z0-9_-]*(?:&|$))*$/

/** Every stream is live, so `type` has no effect: `all` and `live` return the same. */
export const handleGetStreams = implement(
  getStreams,
  async ({ query, window, paginate }, { directory, history }) => {
    const filter = {
      user_ids: query.user_id,
      user_logins: query.user_login,
      game_ids: query.game_id,
      languages: query.language?.map(language => language.toLowerCase()),
    }
    const needs = (query.user_login ?? query.game_id ?? query.language) ? 'all' : 'shown'
    const page = await cutAlongWalk({ directory, history }, window, needs, () =>
      directory.page(filter, window),
    )
    return rawJsonPage(page.rows, paginate(page, rankKey, page.cursorState))
  },
  {
    isFromMemory: true,
    versionOf: ({ directory }, search) => (FIRST_PAGE.test(search) ? directory.rankingVersion : undefined),
  },
)
