/** What people find on the site: channels by any part of their names, live ones by title and tags too, and games (D-162). */

import { parseGameSearch } from '../../domain/search/game-search.ts'
import { normalizeName } from '../../domain/search/normalize-name.ts'
import { FOUND_IN, parseSiteSearch, placeInName, type SiteSearch } from '../../domain/search/site-search.ts'
import { directoryLink, type Named } from '../components/filters.tsx'
import { type ShownStream, toShownStream } from '../components/stream-card.tsx'
import type { Suggestion } from '../components/suggestions.tsx'
import { shortCount } from '../format/numbers.ts'
import type { PageHandler, PageServices } from '../request/session.ts'

type SearchServices = Pick<PageServices, 'store' | 'directory'>

const MAX_CHANNELS = 24
const MAX_GAMES = 8
const SUGGESTED_CHANNELS = 6
const SUGGESTED_GAMES = 2
/** Fewer characters are in so many names that a look inside them is of no use. */
const MIN_INSIDE = 3

interface FoundOffline {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly place: number
}

interface Results {
  readonly live: readonly ShownStream[]
  readonly games: readonly Named[]
  readonly offline: readonly FoundOffline[]
}

/** All that the page of results shows, the best first. */
export async function search(query: string, services: SearchServices): Promise<Results> {
  const asked = parseSiteSearch(query)
  if (asked === undefined) return { live: [], games: [], offline: [] }
  const live = await findLive(asked, services, MAX_CHANNELS)
  return {
    live: live.map(({ stream }) => toShownStream(stream)),
    games: await findGames(query, services, MAX_GAMES),
    offline: await findOffline(asked, services, MAX_CHANNELS),
  }
}

/** GET /search/suggestions: a few channels and games, for the text field while a person types. */
export const showSuggestions: PageHandler = async (browser, services: SearchServices) => {
  const query = browser.parameter('q') ?? ''
  const asked = parseSiteSearch(query)
  return { json: { suggestions: asked === undefined ? [] : await suggest(query, asked, services) } }
}

async function suggest(query: string, asked: SiteSearch, services: SearchServices): Promise<Suggestion[]> {
  const live = await findLive(asked, services, SUGGESTED_CHANNELS)
  const offline = await findOffline(asked, services, SUGGESTED_CHANNELS)
  const games = await findGames(query, services, SUGGESTED_GAMES)
  const channels = [
    ...live.map(({ place, stream }) => ({
      place,
      href: `/${stream.user_login}`,
      name: stream.user_name,
      about: stream.game_name,
      image: `/images/users/${stream.user_id}-300x300.svg`,
      viewers: shortCount(stream.viewer_count),
    })),
    ...offline.map(({ place, id, login, display_name }) => ({
      place,
      href: `/${login}`,
      name: display_name,
      about: 'Offline',
      image: `/images/users/${id}-300x300.svg`,
    })),
  ]
  return [
    ...channels.sort((a, b) => a.place - b.place).slice(0, SUGGESTED_CHANNELS),
    ...games.map(({ id, name }) => ({
      href: directoryLink({ game: id }),
      name,
      about: 'Game',
      image: `/images/games/${id}-285x380.svg`,
    })),
  ]
}

async function findLive(asked: SiteSearch, { directory }: SearchServices, most: number) {
  if (!directory.isComplete) await directory.complete()
  return directory.find(asked, most)
}

async function findGames(query: string, { store }: SearchServices, most: number): Promise<Named[]> {
  const asked = parseGameSearch(query)
  if (asked === undefined) return []
  const { rows } = await store.games.search(asked, { first: most, direction: 'forward' })
  return rows.map(({ id, name }) => ({ id, name }))
}

/** Names that begin with the query are found by an index; only if these are few, others are looked into. */
async function findOffline(
  asked: SiteSearch,
  { store, directory }: SearchServices,
  most: number,
): Promise<FoundOffline[]> {
  const isOffline = ({ id }: { readonly id: string }) => directory.findStream(id) === undefined
  const { rows: beginning } = await store.channelSearch.page(asked.names, {
    first: most,
    direction: 'forward',
  })
  const isLong = [...(asked.names.spellings[0] ?? '')].length >= MIN_INSIDE
  const inside = beginning.length < most && isLong ? await store.channelSearch.inside(asked, most) : []
  const byId = new Map([...beginning, ...inside].filter(isOffline).map(channel => [channel.id, channel]))
  return [...byId.values()]
    .map(({ id, login, display_name }) => ({
      id,
      login,
      display_name,
      place: Math.min(
        ...[login, normalizeName(display_name)].map(name => placeInName(asked, name) ?? FOUND_IN.insideName),
      ),
    }))
    .sort((a, b) => a.place - b.place || (a.login < b.login ? -1 : 1))
    .slice(0, most)
}
