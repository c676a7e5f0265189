/** The home page: who is live, and the search (D-151). */
import type { Client } from '../../client/index.ts'
import type { ShownGame } from '../components/game-card.tsx'
import { type ShownStream, toShownStream } from '../components/stream-card.tsx'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { listDropsChannels } from '../request/drops-channels.ts'
import { embeddedBroadcast, findBroadcast } from '../request/find-broadcast.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { withViewers } from './games.ts'
import { type Featured, homePage, welcomePage } from './home-view.tsx'
import { listLiveChannels } from './live-channels.ts'
import { search } from './search.ts'
import { searchPage } from './search-view.tsx'

/** They fill one row. */
const GAMES = 8
const FOLLOWED = 8
const LATEST = 8
/** Fewer channels look better side by side; a single one has no other beside it. */
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
  const list = await listLiveChannels(browser, services, helix)
  const { streams, drops, onlyDrops, isWhole } = list
  const done = DONE.get(browser.parameter('done') ?? '')
  if (!list.hasOthers) return welcomePage({ signUp: services.signUp, done })
  const games = onlyDrops || isWhole ? await listGames(services, helix, onlyDrops, drops.games) : []
  const followed = isWhole ? await listFollowed(browser, services, helix) : []
  // All channels are visible anyway if they fit on one page.
  const latest =
    isWhole && list.cursor !== undefined
      ? (await playback.getLatestStreams({ first: LATEST })).data.map(toShownStream)
      : []
  const hasFeatured = isWhole && (streams.length === 1 || streams.length >= MIN_WITH_FEATURED)
  return homePage({
    ...list,
    games,
    drops: { ...drops, channels: listDropsChannels([...streams, ...followed, ...latest], services) },
    followed,
    latest,
    featured: hasFeatured ? await selectFeatured([...streams, ...latest], services) : undefined,
    done,
    now,
  })
}

/** The games with the most viewers, or the first of those of campaigns. */
async function listGames(
  services: HomeServices,
  helix: Client['helix'],
  onlyDrops: boolean,
  ids: readonly string[],
): Promise<ShownGame[]> {
  if (onlyDrops && ids.length === 0) return []
  const { data } = onlyDrops
    ? await helix.getGames({ id: ids.slice(0, GAMES) })
    : await helix.getTopGames({ first: GAMES })
  return withViewers(data, services)
}

/** The channel with the most viewers of those that play on this site, or of all if none does. */
async function selectFeatured(
  streams: readonly ShownStream[],
  { store, demo }: HomeServices,
): Promise<Featured | undefined> {
  const playing = await store.streams.playing(streams.map(({ user_id }) => user_id))
  const nodes = new Map(playing.map(({ user_id, watch_url }) => [user_id, watch_url]))
  // In a demo, the channels without an encoder play as well.
  const areEqual = playing.length === 0 || demo?.video !== undefined
  const [most] = streams
    .filter(({ user_id }) => areEqual || nodes.has(user_id))
    .toSorted((one, other) => other.viewer_count - one.viewer_count)
  if (most === undefined) return undefined
  const node = nodes.get(most.user_id)
  if (node !== undefined) return { stream: most, broadcast: embeddedBroadcast(most.user_login, node) }
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
