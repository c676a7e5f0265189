/** The home page: who is live, and the search (D-151). */
import type { Client } from '../../client/index.ts'
import type { Named } from '../components/filters.tsx'
import { type ShownStream, toShownStream } from '../components/stream-card.tsx'
import { languageName } from '../format/languages.ts'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { listDropsChannels } from '../request/drops-channels.ts'
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
/** Games of campaigns that the list can be limited to: GetStreams takes as many. */
const MAX_DROPS_GAMES = 100
/** Pages of channels that count for no campaign are skipped, so many at most. */
const MAX_SKIPPED = 4
/** So few channels look better side by side. */
const MIN_WITH_FEATURED = 5

/** Confirmations, shown after the redirect to the page. */
const DONE: ReadonlyMap<string, string> = new Map([['logged-out', 'You are logged out.']])

type HomeServices = SessionServices &
  Pick<
    PageServices,
    'store' | 'directory' | 'siteTokens' | 'callApi' | 'publicUrl' | 'signUp' | 'demo' | 'campaigns'
  >

export const showHome: PageHandler = async (browser, services: HomeServices) => {
  const { helix, playback } = await apiFor(browser, services, ['user:read:follows'])
  const now = services.clock.now()
  const query = browser.parameter('q')?.trim()
  if (query) {
    const results = await search(query, services)
    return searchPage({ query, now, ...results, drops: listDropsChannels(results.live, services) })
  }
  const game_id = browser.parameter('game')
  const language = browser.parameter('language')
  const after = browser.parameter('after')
  const dropsGames = services.campaigns.activeGames(now).slice(0, MAX_DROPS_GAMES)
  const onlyDrops = browser.parameter('drops') === '1'
  const filter = {
    ...(game_id ? { game_id: [game_id] } : onlyDrops && { game_id: dropsGames }),
    ...(language && { language: [language] }),
  }
  const list = (from = after) => helix.getStreams({ ...filter, first: FIRST, ...(from && { after: from }) })
  const [page, sample, topGames, chosen] = await Promise.all([
    onlyDrops ? listWithDrops(list, dropsGames, services) : list(),
    helix.getStreams({ first: SAMPLE }),
    onlyDrops ? listGames(helix, dropsGames) : helix.getTopGames({ first: GAMES }),
    game_id === undefined ? undefined : helix.getGames({ id: [game_id] }),
  ])
  const done = DONE.get(browser.parameter('done') ?? '')
  if (sample.data.length === 0) return welcomePage({ signUp: services.signUp, done })
  const isWholeList = !game_id && !language && !onlyDrops && !after
  const followed = isWholeList ? await listFollowed(browser, services, helix) : []
  // All channels are visible anyway if they fit on one page.
  const latest =
    isWholeList && page.pagination.cursor !== undefined
      ? (await playback.getLatestStreams({ first: LATEST })).data.map(toShownStream)
      : []
  const hasFeatured = isWholeList && followed.length === 0 && page.data.length >= MIN_WITH_FEATURED
  const game = chosen?.data.map(named)[0] ?? (game_id && { id: game_id, name: 'Unknown game' })
  const channels = listDropsChannels([...page.data, ...followed, ...latest], services)
  return homePage({
    streams: page.data.map(toShownStream),
    cursor: page.pagination.cursor,
    games: withChosen(topGames.data.map(named), game || undefined),
    languages: listLanguages(sample.data),
    ...(game && { game }),
    ...(language && { language: { id: language, name: languageName(language) } }),
    drops: { games: dropsGames, channels },
    onlyDrops,
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

type StreamList = Pick<Awaited<ReturnType<Client['helix']['getStreams']>>, 'data' | 'pagination'>

/** The first of the games of campaigns, which are offered instead of the top games. */
const listGames = async (helix: Client['helix'], ids: readonly string[]) =>
  ids.length === 0 ? { data: [] } : helix.getGames({ id: ids.slice(0, GAMES) })

/** The channels of a page that count for a campaign, or of the first page that has any. */
async function listWithDrops(
  list: (after?: string) => Promise<StreamList>,
  games: readonly string[],
  services: HomeServices,
): Promise<StreamList> {
  if (games.length === 0) return { data: [], pagination: {} }
  let page = await list()
  for (let skipped = 0; ; skipped++) {
    const counting = listDropsChannels(page.data, services)
    const data = page.data.filter(({ user_id }) => counting.includes(user_id))
    const { cursor } = page.pagination
    if (data.length > 0 || cursor === undefined || skipped === MAX_SKIPPED) return { ...page, data }
    page = await list(cursor)
  }
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
