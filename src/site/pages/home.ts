/** The home page: who is live, and the search (D-151). */
import type { Client } from '../../client/index.ts'
import type { Named } from '../components/filters.tsx'
import { type ShownStream, toShownStream } from '../components/stream-card.tsx'
import { languageName } from '../format/languages.ts'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { embeddedBroadcast, findBroadcast } from '../request/find-broadcast.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { type Featured, homePage, welcomePage } from './home-view.tsx'
import { search } from './search.ts'
import { searchPage } from './search-view.tsx'

/** One is shown large; the others fill rows of two, three, four and six. */
const FIRST = 25
const GAMES = 7
/** The languages offered are those of so many streams. */
const SAMPLE = 100
const FOLLOWED = 8
const LATEST = 8
/** So few channels look better side by side. */
const MIN_WITH_FEATURED = 5

/** Confirmations, shown after the redirect to the page. */
const DONE: ReadonlyMap<string, string> = new Map([['logged-out', 'You are logged out.']])

type HomeServices = SessionServices &
  Pick<PageServices, 'store' | 'directory' | 'siteTokens' | 'callApi' | 'publicUrl' | 'signUp' | 'demo'>

export const showHome: PageHandler = async (browser, services: HomeServices) => {
  const { helix, playback } = await apiFor(browser, services, ['user:read:follows'])
  const now = services.clock.now()
  const query = browser.parameter('q')?.trim()
  if (query) return searchPage({ query, now, ...(await search(query, services)) })
  const game_id = browser.parameter('game')
  const language = browser.parameter('language')
  const after = browser.parameter('after')
  const filter = { ...(game_id && { game_id: [game_id] }), ...(language && { language: [language] }) }
  const [page, sample, topGames, chosen] = await Promise.all([
    helix.getStreams({ ...filter, first: FIRST, ...(after && { after }) }),
    helix.getStreams({ first: SAMPLE }),
    helix.getTopGames({ first: GAMES }),
    game_id === undefined ? undefined : helix.getGames({ id: [game_id] }),
  ])
  const done = DONE.get(browser.parameter('done') ?? '')
  if (sample.data.length === 0) return welcomePage({ signUp: services.signUp, done })
  const isWholeList = !game_id && !language && !after
  const followed = isWholeList ? await listFollowed(browser, services, helix) : []
  // All channels are visible anyway if they fit on one page.
  const latest =
    isWholeList && page.pagination.cursor !== undefined
      ? (await playback.getLatestStreams({ first: LATEST })).data.map(toShownStream)
      : []
  const hasFeatured = isWholeList && followed.length === 0 && page.data.length >= MIN_WITH_FEATURED
  const game = chosen?.data.map(named)[0] ?? (game_id && { id: game_id, name: 'Unknown game' })
  return homePage({
    streams: page.data.map(toShownStream),
    cursor: page.pagination.cursor,
    games: withChosen(topGames.data.map(named), game || undefined),
    languages: listLanguages(sample.data),
    ...(game && { game }),
    ...(language && { language: { id: language, name: languageName(language) } }),
    followed,
    latest,
    featured: hasFeatured
      ? await selectFeatured([...page.data.map(toShownStream), ...latest], services)
      : undefined,
    isTop: after === undefined,
    done,
    now,
  })
}

/** The channel with the most viewers of those that play on this site, or of all if none does. */
async function selectFeatured(
  streams: readonly ShownStream[],
  { store, demo }: HomeServices,
): Promise<Featured | undefined> {
  const playing = await store.streams.playing(streams.map(({ user_id }) => user_id))
  const nodes = new Map(playing.map(({ user_id, watch_url }) => [user_id, watch_url]))
  const [most] = streams
    .filter(({ user_id }) => playing.length === 0 || nodes.has(user_id))
    .sort((one, other) => other.viewer_count - one.viewer_count)
  if (most === undefined) return undefined
  const node = nodes.get(most.user_id)
  if (node !== undefined) return { stream: most, broadcast: embeddedBroadcast(most.user_login, node) }
  // In a demo, all others play as well.
  const stream = demo?.video && (await store.streams.of(most.user_id))
  return { stream: most, broadcast: stream && (await findBroadcast({ store, demo }, stream)) }
}

/** The live channels that the user follows. */
async function listFollowed(
  browser: Browser,
  services: HomeServices,
  helix: Client['helix'],
): Promise<ShownStream[]> {
  const session = await readSession(browser, services)
  if (session === undefined) return []
  const { data } = await helix.getFollowedStreams({ user_id: session.user_id, first: FOLLOWED })
  return data.map(toShownStream)
}

const named = ({ id, name }: Named): Named => ({ id, name })

const withChosen = (games: readonly Named[], game: Named | undefined): readonly Named[] =>
  game === undefined || games.some(({ id }) => id === game.id) ? games : [game, ...games]

/** The languages of these streams, those of most of them first. */
function listLanguages(streams: readonly { readonly language: string }[]): Named[] {
  return [...Map.groupBy(streams, ({ language }) => language)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([id]) => ({ id, name: languageName(id) }))
}
