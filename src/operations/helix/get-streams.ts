import { getStreams } from '../../contract/helix/get-streams.ts'
import type { Directory } from '../../directory/directory.ts'
import { rankKey, type StreamPage } from '../../directory/stream-page.ts'
import { type Call, implement, rawJsonPage } from '../implement.ts'
import { canCut, cutAlongWalk } from '../walk.ts'

/** The first page of a list of all streams, or one filtered only by game and language. */
const FIRST_PAGE = /^(?:(?:first|game_id|language|type)=[A-Za-z0-9_-]*(?:&|$))*$/

type GetStreamsCall = Call<typeof getStreams>

/** Every stream is live, so `type` has no effect: `all` and `live` return the same. */
export const handleGetStreams = implement(
  getStreams,
  async (call, { directory, history }) => {
    const { user_login, game_id, language } = call.query
    const needs = (user_login ?? game_id ?? language) ? 'all' : 'shown'
    const page = await cutAlongWalk({ directory, history }, call.window, needs, () =>
      cutPage(call, directory),
    )
    return answerPage(call, page)
  },
  {
    isFromMemory: true,
    versionOf: ({ directory }, search) => (FIRST_PAGE.test(search) ? directory.rankingVersion : undefined),
    handleFromMemory: (call, { directory }) =>
      canCut(directory, call.window) ? answerPage(call, cutPage(call, directory)) : undefined,
  },
)

function cutPage({ query, window }: GetStreamsCall, directory: Directory): StreamPage {
  const filter = {
    user_ids: query.user_id,
    user_logins: query.user_login,
    game_ids: query.game_id,
    languages: query.language?.map(language => language.toLowerCase()),
  }
  return directory.page(filter, window)
}

const answerPage = ({ paginate }: GetStreamsCall, page: StreamPage) =>
  rawJsonPage(page.rows, paginate(page, rankKey, page.cursorState))
