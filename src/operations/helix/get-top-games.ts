import { getTopGames } from '../../contract/helix/get-top-games.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { implement } from '../implement.ts'
import { renderCategory } from '../render-category.ts'
import { cutAlongWalk } from '../walk.ts'

const FIRST_PAGE = /^(?:first=[0-9]*)?$/

/** The directory has the order; names and ids at IGDB are in the store. A game that was deleted just now is omitted. */
export const handleGetTopGames = implement(
  getTopGames,
  async ({ window, paginate }, { directory, history, store, publicUrl }) => {
    const page = await cutAlongWalk({ directory, history }, window, 'all', () =>
      directory.pageOfGames(window),
    )
    const games = await store.games.withIds(page.rows.map(row => row.id))
    const byId = new Map(games.map(game => [game.id, renderCategory(game, publicUrl)]))
    return {
      data: page.rows.flatMap(({ id }) => byId.get(id) ?? []),
      pagination: paginate(page, rankKey, page.cursorState),
    }
  },
  {
    // Changes of a game with live streams are in the feed, so they change the version too.
    versionOf: ({ directory }, search) => (FIRST_PAGE.test(search) ? directory.rankingVersion : undefined),
  },
)
