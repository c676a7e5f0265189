/** The home page: who is live (D-151). */
import { apiFor } from './api-for.ts'
import type { ShownStream } from './components/stream-card.tsx'
import type { PageHandler, PageServices, SessionServices } from './session.ts'
import { homePage } from './views/home.tsx'

const FIRST = 24
const GAMES = 8
const LANGUAGES = 6
/** The languages offered are those of so many streams. */
const SAMPLE = 100

type HomeServices = SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl' | 'signUp'>

export const showHome: PageHandler = async (browser, services: HomeServices) => {
  const { helix } = await apiFor(browser, services)
  const [game_id, language, after] = (['game', 'language', 'after'] as const).map(name =>
    browser.parameter(name),
  )
  const [page, sample, topGames, named] = await Promise.all([
    helix.getStreams({
      first: FIRST,
      ...(game_id && { game_id: [game_id] }),
      ...(language && { language: [language] }),
      ...(after && { after }),
    }),
    helix.getStreams({ first: SAMPLE }),
    helix.getTopGames({ first: GAMES }),
    game_id === undefined ? undefined : helix.getGames({ id: [game_id] }),
  ])
  const game = named?.data[0]
  return homePage({
    streams: page.data.map(shownOf),
    cursor: page.pagination.cursor,
    games: withChosen(topGames.data, game),
    languages: languagesOf(sample.data, language),
    game,
    language: language === undefined ? undefined : { id: language, name: languageName(language) },
    isTop: after === undefined,
    now: services.clock.now(),
    isEmpty: sample.data.length === 0,
    signUp: services.signUp,
  })
}

interface Named {
  readonly id: string
  readonly name: string
}

const withChosen = (games: readonly Named[], game: Named | undefined): Named[] =>
  [...games, ...(game && !games.some(({ id }) => id === game.id) ? [game] : [])].map(({ id, name }) => ({
    id,
    name,
  }))

/** Without the fields that no card shows: the page carries them as JSON too. */
const shownOf = ({
  id,
  user_id,
  user_login,
  user_name,
  game_id,
  game_name,
  title,
  viewer_count,
  started_at,
  tags,
}: ShownStream): ShownStream => ({
  id,
  user_id,
  user_login,
  user_name,
  game_id,
  game_name,
  title,
  viewer_count,
  started_at,
  tags,
})

/** The languages that most streams are in, and the chosen one. */
function languagesOf(streams: readonly { readonly language: string }[], chosen: string | undefined): Named[] {
  const counts = Map.groupBy(streams, ({ language }) => language)
  const most = [...counts].sort(([, a], [, b]) => b.length - a.length).map(([id]) => id)
  const ids = new Set([...most.slice(0, LANGUAGES), ...(chosen === undefined ? [] : [chosen])])
  return [...ids].map(id => ({ id, name: languageName(id) }))
}

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })

function languageName(id: string): string {
  if (!/^[a-z]{2,3}$/.test(id)) return id
  return languageNames.of(id) ?? id
}
