/** The games that have live channels, and the page of each, with its live channels and latest videos (D-277). */
import type { Named } from '../components/filters.tsx'
import type { ShownGame } from '../components/game-card.tsx'
import { problemPage } from '../render/problem-page.tsx'
import { apiFor } from '../request/api-for.ts'
import type { PageHandler, PageServices, SessionServices } from '../request/session.ts'
import { gamePage, gamesPage } from './games-view.tsx'
import { latestVideos } from './latest-videos.ts'
import { listLiveChannels } from './live-channels.ts'

/** They fill rows of two, three, four, six and eight. */
const FIRST = 48
const VIDEOS = 12

type GamesServices = SessionServices &
  Pick<PageServices, 'store' | 'directory' | 'siteTokens' | 'callApi' | 'publicUrl' | 'campaigns'>

/** GET /games: most viewers first. */
export const showGames: PageHandler = async (browser, services: GamesServices) => {
  const { helix } = await apiFor(browser, services)
  const after = browser.parameter('after')
  const page = await helix.getTopGames({ first: FIRST, ...(after && { after }) })
  return gamesPage({
    games: await withViewers(page.data, services),
    cursor: page.pagination.cursor,
    isTop: after === undefined,
  })
}

/** GET /games/<id> */
export const showGame: PageHandler = async (browser, services: GamesServices) => {
  const { store, clock } = services
  const id = /^\/games\/([0-9]{1,19})$/.exec(browser.path)?.[1]
  const found = id === undefined ? undefined : await store.games.find(id)
  if (found === undefined)
    return problemPage(404, 'Game not found', 'There is no game at this address. It may have been deleted.', [
      { href: '/games', title: 'All games' },
    ])
  const game = { id: found.id, name: found.name }
  const now = clock.now()
  const { helix } = await apiFor(browser, services)
  const list = await listLiveChannels(browser, services, helix, game)
  const [shown] = await withViewers([game], services)
  return gamePage({
    ...list,
    game,
    viewers: shown?.viewers,
    videos: list.isTop ? await latestVideos(store, { game_id: game.id, count: VIDEOS, now }) : [],
    now,
  })
}

/** Games with the viewers of their live channels. */
export async function withViewers(
  games: readonly Named[],
  { directory }: Pick<GamesServices, 'directory'>,
): Promise<Required<ShownGame>[]> {
  // After a start, the games of streams are read after their ranks.
  if (!directory.isComplete) await directory.complete()
  const viewers = directory.viewersOfGames(games.map(({ id }) => id))
  return games.map(({ id, name }) => ({ id, name, viewers: viewers.get(id) ?? 0 }))
}
